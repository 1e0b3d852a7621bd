//! The checkpoint's tokenizer, with a cache for texts that come again at every keystroke.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tokenizers::Tokenizer;

use crate::error::{Error, Result};
use crate::json::Json;

/// Texts kept in each of the two generations of the cache.
const GENERATION: usize = 8192;
/// Longer texts are not kept: they seldom come twice.
const LONGEST_KEPT: usize = 256;

/// Turns text into token numbers. Not shared between threads: it belongs to a model's thread.
pub struct Tokens {
    file: PathBuf,
    inner: Tokenizer,
    /// Number of `[CLS]`, the first token of every sequence.
    pub cls: u32,
    /// Number of `[SEP]`, which closes each part.
    pub sep: u32,
    /// Number of `[MASK]`, which marks an option.
    pub mask: u32,
    /// Number of `[PAD]`.
    pub pad: u32,
    mask_text: String,
    recent: HashMap<String, Rc<[u32]>>,
    older: HashMap<String, Rc<[u32]>>,
}

impl Tokens {
    /// Reads `tokenizer.json` and the names of the special tokens in `tokenizer_config.json`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Tokenizer`], or [`Error::Config`] with the missing special token.
    pub fn read(directory: &Path) -> Result<Self> {
        let file = directory.join("tokenizer.json");
        let text = std::fs::read(&file).map_err(|e| Error::io(&file, e))?;
        let failed = |e: tokenizers::Error| Error::Tokenizer {
            file: file.clone(),
            reason: e.to_string(),
        };
        let mut inner = Tokenizer::from_bytes(&text).map_err(failed)?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(failed)?;
        let names = Names::read(&directory.join("tokenizer_config.json"))?;
        let special = |field: &str| names.number(field, &inner);
        Ok(Self {
            cls: special("cls_token")?,
            sep: special("sep_token")?,
            mask: special("mask_token")?,
            pad: special("pad_token")?,
            mask_text: names.text("mask_token")?,
            file,
            inner,
            recent: HashMap::new(),
            older: HashMap::new(),
        })
    }

    /// Tokens of a text. The text of `[MASK]` in it is read as a space, so that no text can pose
    /// as an option.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] when the tokenizer refuses the text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let clean = match text.contains(&self.mask_text) {
            true => &text.replace(&self.mask_text, " "),
            false => text,
        };
        match self.inner.encode_fast(clean, false) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(e) => Err(Error::Tokenizer {
                file: self.file.clone(),
                reason: e.to_string(),
            }),
        }
    }

    /// As [`Self::encode`], remembered: a text seen lately costs one look-up.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_cached(&mut self, text: &str) -> Result<Rc<[u32]>> {
        if let Some(known) = self.recent.get(text) {
            return Ok(known.clone());
        }
        let ids = match self.older.get(text) {
            Some(known) => known.clone(),
            None => self.encode(text)?.into(),
        };
        if text.len() <= LONGEST_KEPT {
            if self.recent.len() >= GENERATION {
                self.older = std::mem::take(&mut self.recent);
            }
            self.recent.insert(text.to_owned(), ids.clone());
        }
        Ok(ids)
    }

    /// Size of the vocabulary with added tokens.
    pub fn vocabulary(&self) -> usize {
        self.inner.get_vocab_size(true)
    }
}

/// `tokenizer_config.json`, of which only the names of special tokens matter.
struct Names {
    file: PathBuf,
    document: Json,
}

impl Names {
    fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read(file).map_err(|e| Error::io(file, e))?;
        let document = Json::parse(&text).map_err(|e| Error::Config {
            file: file.to_owned(),
            field: "document".to_owned(),
            reason: format!("not JSON: {e}"),
        })?;
        Ok(Self {
            file: file.to_owned(),
            document,
        })
    }

    fn error(&self, field: &str, reason: String) -> Error {
        Error::Config {
            file: self.file.clone(),
            field: field.to_owned(),
            reason,
        }
    }

    /// A special token is named directly or by the `content` of an object.
    fn text(&self, field: &str) -> Result<String> {
        let value = self.document.get(field);
        match value.and_then(|v| v.get("content")).or(value) {
            Some(Json::Text(text)) => Ok(text.clone()),
            _ => Err(self.error(field, "missing".to_owned())),
        }
    }

    fn number(&self, field: &str, tokenizer: &Tokenizer) -> Result<u32> {
        let text = self.text(field)?;
        tokenizer
            .token_to_id(&text)
            .ok_or_else(|| self.error(field, format!("{text:?} is not in the vocabulary")))
    }
}
