//! Structs that are stored as JSON objects.

use serde_core::de::{DeserializeOwned, Error};
use serde_json::{Map, Value};

/// Defines structs and how serde writes and reads them. A field with `= default` may be missing in what is read; fields
/// that the struct does not have are refused.
///
/// In place of serde's derive macros, which take longer to compile than all of this crate's other dependencies.
macro_rules! record {
    ($(
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $type:ty $(= $default:expr)?,)*
        }
    )*) => { $(
        $(#[$attribute])*
        pub struct $name {
            $($(#[$field_attribute])* pub $field: $type,)*
        }

        impl serde_core::Serialize for $name {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde_core::ser::SerializeStruct;
                let mut fields = serializer.serialize_struct(stringify!($name), [$(stringify!($field)),*].len())?;
                $(fields.serialize_field(stringify!($field), &self.$field)?;)*
                fields.end()
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $name {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut fields = serde_json::Map::deserialize(deserializer)?;
                let record = Self {
                    $($field: $crate::data::record::take(&mut fields, stringify!($field), None $(.or(Some($default)))?)?,)*
                };
                match fields.keys().next() {
                    Some(name) => Err(serde_core::de::Error::custom(format!("unknown field `{name}`"))),
                    None => Ok(record),
                }
            }
        }
    )* };
}
pub(crate) use record;

/// Takes a field from an object.
pub(crate) fn take<T: DeserializeOwned, E: Error>(
    fields: &mut Map<String, Value>,
    name: &'static str,
    default: Option<T>,
) -> Result<T, E> {
    match fields.remove(name) {
        Some(value) => serde_json::from_value(value).map_err(|error| E::custom(format!("field `{name}`: {error}"))),
        None => default.ok_or_else(|| E::missing_field(name)),
    }
}
