//! Reading a JSON object field by field.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::json::Json;

/// One configuration file, with errors that name it and the field.
pub(super) struct Fields {
    file: PathBuf,
    document: Json,
}

impl Fields {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read(file).map_err(|source| Error::io(file, source))?;
        let document = Json::parse(&text).map_err(|e| Error::Config {
            file: file.to_owned(),
            field: "document".to_owned(),
            reason: format!("not JSON: {e}"),
        })?;
        let fields = Self {
            file: file.to_owned(),
            document,
        };
        match fields.document {
            Json::Map(_) => Ok(fields),
            _ => Err(fields.error("document", "expected an object".to_owned())),
        }
    }

    pub(super) fn error(&self, field: &str, reason: String) -> Error {
        Error::Config {
            file: self.file.clone(),
            field: field.to_owned(),
            reason,
        }
    }

    /// A field that is there and not null.
    pub(super) fn get(&self, field: &str) -> Option<&Json> {
        self.document
            .get(field)
            .filter(|value| **value != Json::Null)
    }

    pub(super) fn required(&self, field: &str) -> Result<&Json> {
        self.get(field)
            .ok_or_else(|| self.error(field, "missing".to_owned()))
    }

    pub(super) fn whole(&self, field: &str, value: &Json) -> Result<usize> {
        match value {
            Json::Int(n) if (0..=1 << 24).contains(n) => Ok(*n as usize),
            other => Err(self.error(field, format!("expected a whole number, got {other}"))),
        }
    }

    pub(super) fn count(&self, field: &str) -> Result<usize> {
        self.whole(field, self.required(field)?)
    }

    pub(super) fn size(&self, field: &str) -> Result<usize> {
        match self.count(field)? {
            0 => Err(self.error(field, "must not be 0".to_owned())),
            n => Ok(n),
        }
    }

    pub(super) fn size_or(&self, field: &str, default: usize) -> Result<usize> {
        match self.get(field) {
            Some(_) => self.size(field),
            None => Ok(default),
        }
    }

    pub(super) fn positive_or(&self, field: &str, default: f64) -> Result<f64> {
        match self.get(field) {
            None => Ok(default),
            Some(value) => positive(value)
                .ok_or_else(|| self.error(field, format!("not a positive number: {value}"))),
        }
    }

    pub(super) fn must_be(&self, field: &str, only: &str) -> Result<()> {
        match self.get(field) {
            None => Ok(()),
            Some(Json::Text(t)) if t == only => Ok(()),
            Some(other) => Err(self.error(field, format!("unsupported {other}, use \"{only}\""))),
        }
    }

    pub(super) fn must_be_false(&self, field: &str) -> Result<()> {
        match self.get(field) {
            None | Some(Json::Bool(false)) => Ok(()),
            Some(other) => Err(self.error(field, format!("unsupported {other}, use false"))),
        }
    }
}

pub(super) fn positive(value: &Json) -> Option<f64> {
    value.number().filter(|n| n.is_finite() && *n > 0.0)
}
