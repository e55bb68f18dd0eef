//! Quotations in messages.

use std::fmt;

/// The most characters that a quotation shows.
const MOST_CHARACTERS: usize = 100;

/// Quotes bad input for a message: in quotation marks, with special characters escaped. Shows at most a hundred
/// characters of the text; three dots after the quotation mark stand for the rest.
///
/// ```
/// use kiln::quote::quote;
///
/// assert_eq!(quote("e2\te5").to_string(), r#""e2\te5""#);
/// assert_eq!(quote(&"é".repeat(3_000_000)).to_string(), format!("\"{}\"...", "é".repeat(100)));
/// ```
pub fn quote(text: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => write!(f, "{:?}...", &text[..end]),
        None => write!(f, "{text:?}"),
    })
}
