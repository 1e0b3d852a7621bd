//! JSON values that keep the order of their members, and the text form the reference gives them.
//!
//! Options are listed in the order of the document, so the order must survive parsing. States,
//! instructions and criteria that are not strings reach the model as text; the reference writes
//! them with Python's `json.dumps(value, ensure_ascii=False)`: `", "` and `": "` as separators,
//! floats in Python's shortest form.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// One JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number without fraction or exponent.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object in document order; of a repeated key the last value counts.
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Reads one document.
    ///
    /// # Errors
    /// The parser's message with line and column.
    pub fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Member of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Map(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text of a string, the JSON text of anything else.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Number as a float; booleans are no numbers.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// What kind of value this is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Float(value) => out.write_str(&python_float(*value)),
            Self::Text(text) => write_string(out, text),
            Self::List(items) => {
                out.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                out.write_str("]")
            }
            Self::Map(members) => {
                out.write_str("{")?;
                for (i, (key, value)) in members.iter().enumerate() {
                    out.write_str(if i > 0 { ", " } else { "" })?;
                    write_string(out, key)?;
                    write!(out, ": {value}")?;
                }
                out.write_str("}")
            }
        }
    }
}

fn write_string(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    // serde_json escapes exactly what Python escapes with ensure_ascii=False.
    out.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

/// Shortest form that reads back as the same float, laid out as Python's `repr` does.
pub(crate) fn python_float(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN".to_owned()
        } else if value > 0.0 {
            "Infinity".to_owned()
        } else {
            "-Infinity".to_owned()
        };
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') {
            plain
        } else {
            plain + ".0"
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Json;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Int(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Int(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(Json::Float(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Text(value.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Json::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut members: Vec<(String, Json)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Json>()? {
                    match members.iter_mut().find(|(k, _)| *k == key) {
                        Some(member) => member.1 = value,
                        None => members.push((key, value)),
                    }
                }
                Ok(Json::Map(members))
            }
        }
        input.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_values_as_the_reference_does() {
        let text = r#"{"b":1,"a":[true,null,"x\n\u0001é"],"f":[1.0,0.00001,1e16,123456.5,1e-4]}"#;
        let value = Json::parse(text.as_bytes()).unwrap();
        assert_eq!(
            value.to_string(),
            "{\"b\": 1, \"a\": [true, null, \"x\\n\\u0001é\"], \
             \"f\": [1.0, 1e-05, 1e+16, 123456.5, 0.0001]}"
        );
    }

    #[test]
    fn keeps_the_place_of_a_repeated_key_and_its_last_value() {
        let value = Json::parse(br#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(value.to_string(), r#"{"a": 3, "b": 2}"#);
    }
}
