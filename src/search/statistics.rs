//! Counting what the search does, for its authors: `track!(value)` is the identity and, with the feature `stats`, keeps what
//! goes through it. The idea and the use of `linkme` are from the talk "Top 10 Engine in Rust".

/// Gives back the value of an expression (a number or a truth value) after counting it under its own text, or under a name:
/// `track!("name", value)`.
#[cfg(not(feature = "stats"))]
macro_rules! track {
    ($name:literal, $value:expr) => {
        $value
    };
    ($value:expr) => {
        $value
    };
}

#[cfg(feature = "stats")]
macro_rules! track {
    ($name:literal, $value:expr) => {{
        #[linkme::distributed_slice($crate::search::statistics::TRACKED)]
        static ENTRY: $crate::search::statistics::Tracked =
            $crate::search::statistics::Tracked::new(concat!(file!(), ":", line!()), $name);
        let value = $value;
        ENTRY.add(i64::from(value));
        value
    }};
    ($value:expr) => {
        track!("", $value)
    };
}

pub(super) use track;
