//! Typed questions: reading them from JSON, and the texts of their options.

use crate::config::Kind;
use crate::error::{Error, Result};
use crate::json::{Json, python_float};

/// One question, checked, with the text of every option.
#[derive(Debug, Clone)]
pub struct Question {
    /// Under which the answer is given.
    pub id: String,
    /// What kind of answer is asked for.
    pub kind: Kind,
    /// What to decide.
    pub instructions: String,
    /// Text of every option, as the model reads it.
    pub options: Vec<String>,
    /// What each option is called in the answer: labels of a choice, levels of a score.
    pub labels: Vec<Json>,
    /// Slot `s` shows option `order[s]`; as listed if missing.
    pub order: Option<Vec<usize>>,
}

impl Question {
    /// A choice among plain texts, which are labels and option texts at once.
    pub fn choice(id: &str, instructions: &str, options: &[String]) -> Self {
        Self {
            id: id.to_owned(),
            kind: Kind::Choice,
            instructions: instructions.to_owned(),
            labels: options.iter().map(|o| Json::Text(o.clone())).collect(),
            options: options.to_vec(),
            order: None,
        }
    }

    /// Reads a document `{"id": {"type": …, "instructions": …, "criteria": …}, …}`.
    ///
    /// # Errors
    /// [`Error::Questions`] for the document, [`Error::Question`] for one question.
    pub fn parse_all(text: &[u8]) -> Result<Vec<Self>> {
        let document = Json::parse(text).map_err(|e| Error::Questions(format!("not JSON: {e}")))?;
        let Json::Map(members) = document else {
            let reason = format!("expected an object of questions, got {}", document.kind());
            return Err(Error::Questions(reason));
        };
        if members.is_empty() {
            return Err(Error::Questions("no question is asked".to_owned()));
        }
        members
            .iter()
            .map(|(id, definition)| Self::parse(id, definition))
            .collect()
    }

    /// Reads one question.
    ///
    /// # Errors
    /// [`Error::Question`] with what to change.
    pub fn parse(id: &str, definition: &Json) -> Result<Self> {
        let check = Check { id };
        if id.trim().is_empty() {
            return Err(check.error("the identifier must not be empty"));
        }
        if !matches!(definition, Json::Map(_)) {
            return Err(check.error(format!("expected an object, got {}", definition.kind())));
        }
        let kind = check.kind(definition.get("type"))?;
        let instructions = check.instructions(definition.get("instructions"))?;
        let criteria = definition.get("criteria").filter(|c| **c != Json::Null);
        let names = definition.get("labels");
        if names.is_some() && kind != Kind::Noul {
            return Err(check.error("labels are for noul questions only"));
        }
        let (options, labels) = match kind {
            Kind::Choice => check.choice(criteria)?,
            Kind::Score => check.score(criteria)?,
            Kind::Noul => check.noul(criteria, names)?,
        };
        let order = check.order(definition.get("option_order"), options.len())?;
        Ok(Self {
            id: id.to_owned(),
            kind,
            instructions,
            options,
            labels,
            order,
        })
    }

    /// The option shown in slot `slot`.
    pub(crate) fn shown(&self, slot: usize) -> usize {
        self.order.as_ref().map_or(slot, |order| order[slot])
    }
}

type Rendered = (Vec<String>, Vec<Json>);

struct Check<'a> {
    id: &'a str,
}

impl Check<'_> {
    fn error(&self, reason: impl Into<String>) -> Error {
        Error::Question {
            id: self.id.to_owned(),
            reason: reason.into(),
        }
    }

    fn kind(&self, value: Option<&Json>) -> Result<Kind> {
        let known = |text: &str| Kind::ALL.into_iter().find(|k| k.name() == text);
        match value {
            Some(Json::Text(text)) if known(text).is_some() => {
                Ok(known(text).unwrap_or(Kind::Noul))
            }
            None => Err(self.error("type is missing (hint: choice, score or noul)")),
            Some(other) => Err(self.error(format!(
                "unknown type {other} (hint: choice, score or noul)"
            ))),
        }
    }

    fn instructions(&self, value: Option<&Json>) -> Result<String> {
        let empty = match value {
            None | Some(Json::Null) => {
                return Err(self.error("instructions are missing (hint: say what to decide)"));
            }
            Some(Json::Bool(_)) => {
                return Err(self.error("instructions must be a string, number, list or object"));
            }
            Some(Json::Text(text)) => text.trim().is_empty(),
            Some(Json::List(items)) => items.is_empty(),
            Some(Json::Map(members)) => members.is_empty(),
            Some(_) => false,
        };
        match (empty, value) {
            (false, Some(value)) => Ok(value.text()),
            _ => Err(self.error("instructions are empty (hint: say what to decide)")),
        }
    }

    fn choice(&self, criteria: Option<&Json>) -> Result<Rendered> {
        let pairs: Vec<(Json, Option<&Json>)> = match criteria {
            Some(Json::Map(members)) => members
                .iter()
                .map(|(k, v)| (Json::Text(k.clone()), Some(v)))
                .collect(),
            Some(Json::List(items)) => items.iter().map(|item| (item.clone(), None)).collect(),
            _ => {
                let hint = "criteria must be a list of labels or an object label: description";
                return Err(self.error(hint));
            }
        };
        if pairs.is_empty() {
            return Err(self.error("criteria are empty (hint: give at least one label)"));
        }
        let mut rendered = Rendered::default();
        for (i, (label, description)) in pairs.into_iter().enumerate() {
            let name = self.label(i, &label)?;
            if let Some(first) = rendered.1.iter().position(|known| same_key(known, &label)) {
                let reason = format!("criteria: label {i} ({label}) repeats label {first}");
                return Err(self.error(reason));
            }
            rendered.0.push(match description.and_then(described) {
                Some(text) => format!("{name}: {text}"),
                None => name,
            });
            rendered.1.push(label);
        }
        Ok(rendered)
    }

    /// The text of a label, which must be a string, number or boolean.
    fn label(&self, index: usize, label: &Json) -> Result<String> {
        match label {
            Json::Text(text) => Ok(text.clone()),
            Json::Bool(value) => Ok(if *value { "True" } else { "False" }.to_owned()),
            Json::Int(value) => Ok(value.to_string()),
            Json::Float(value) => Ok(python_float(*value)),
            other => {
                let kind = other.kind();
                let reason = format!("criteria: label {index} is {kind} (hint: use a string)");
                Err(self.error(reason))
            }
        }
    }

    fn score(&self, criteria: Option<&Json>) -> Result<Rendered> {
        let Some(Json::List(levels)) = criteria else {
            return Err(self.error("criteria must be a list of levels, lowest first"));
        };
        if levels.is_empty() {
            return Err(self.error("criteria are empty (hint: give at least one level)"));
        }
        if let Some(i) = levels.iter().position(|level| *level == Json::Null) {
            return Err(self.error(format!("criteria: level {i} is null (hint: describe it)")));
        }
        let options = levels
            .iter()
            .enumerate()
            .map(|(i, l)| format!("level {i}: {}", l.text()));
        let labels = levels.iter().map(|level| Json::Text(level.text()));
        Ok((options.collect(), labels.collect()))
    }

    fn noul(&self, criteria: Option<&Json>, names: Option<&Json>) -> Result<Rendered> {
        let members: &[(String, Json)] = match criteria {
            None => &[],
            Some(Json::Map(members)) => members,
            Some(other) => {
                let kind = other.kind();
                let reason = format!("criteria must be an object with true and false, got {kind}");
                return Err(self.error(reason));
            }
        };
        let is = |key: &str, name: &str| key.eq_ignore_ascii_case(name);
        if let Some((key, _)) = members
            .iter()
            .find(|(k, _)| !is(k, "true") && !is(k, "false"))
        {
            let reason = format!("criteria: unknown key {key:?} (hint: only true and false)");
            return Err(self.error(reason));
        }
        let [no, yes] = self.noul_names(names)?;
        let text = |name: &str, default: &str| {
            let found = members.iter().rev().find(|(k, _)| is(k, name));
            found
                .and_then(|(_, v)| described(v))
                .unwrap_or_else(|| default.to_owned())
        };
        let options = vec![
            format!("{no}: {}", text("false", "no, the statement does not hold")),
            format!("{yes}: {}", text("true", "yes, the statement holds")),
        ];
        Ok((options, vec![Json::Text(no), Json::Text(yes)]))
    }

    fn noul_names(&self, names: Option<&Json>) -> Result<[String; 2]> {
        let wrong = || self.error("labels must give true and false two different names");
        let Some(names) = names.filter(|n| **n != Json::Null) else {
            return Ok(["false".to_owned(), "true".to_owned()]);
        };
        let Json::Map(members) = names else {
            return Err(wrong());
        };
        let name = |key: &str| match names.get(key) {
            Some(Json::Text(text)) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
            _ => Err(wrong()),
        };
        let pair = [name("false")?, name("true")?];
        if members.len() != 2 || pair[0] == pair[1] {
            return Err(wrong());
        }
        Ok(pair)
    }

    fn order(&self, value: Option<&Json>, count: usize) -> Result<Option<Vec<usize>>> {
        let Some(value) = value else {
            return Ok(None);
        };
        let mut order = Vec::new();
        if let Json::List(items) = value {
            order.extend(items.iter().filter_map(|item| match item {
                Json::Int(n) => usize::try_from(*n).ok(),
                _ => None,
            }));
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if items.len() == count && sorted.iter().copied().eq(0..count) {
                return Ok(Some(order));
            }
        }
        let reason = format!(
            "option_order must hold each of 0 to {} once",
            count.max(1) - 1
        );
        Err(self.error(reason))
    }
}

/// A description that says something: null and the empty string say nothing, 0 and false do.
fn described(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::Text(text) if text.is_empty() => None,
        other => Some(other.text()),
    }
}

/// Whether two labels are one key in the reference's answers (1, 1.0 and true are).
fn same_key(a: &Json, b: &Json) -> bool {
    let number = |value: &Json| match value {
        Json::Bool(flag) => Some(f64::from(u8::from(*flag))),
        other => other.number(),
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(definition: &str) -> String {
        let definition = Json::parse(definition.as_bytes()).unwrap();
        Question::parse("q", &definition).unwrap_err().to_string()
    }

    #[test]
    fn bad_questions_say_what_to_change() {
        let cases = [
            (r"[]", "expected an object, got a list"),
            (r"{}", "type is missing"),
            (
                r#"{"type":"ask"}"#,
                "unknown type \"ask\" (hint: choice, score or noul)",
            ),
            (r#"{"type":"noul"}"#, "instructions are missing"),
            (
                r#"{"type":"noul","instructions":" "}"#,
                "instructions are empty",
            ),
            (
                r#"{"type":"choice","instructions":"i"}"#,
                "criteria must be a list of labels",
            ),
            (
                r#"{"type":"choice","instructions":"i","criteria":[]}"#,
                "criteria are empty",
            ),
            (
                r#"{"type":"choice","instructions":"i","criteria":[null]}"#,
                "label 0 is null",
            ),
            (
                r#"{"type":"choice","instructions":"i","criteria":["a",1,true]}"#,
                "repeats label 1",
            ),
            (
                r#"{"type":"score","instructions":"i","criteria":{"a":1}}"#,
                "list of levels",
            ),
            (
                r#"{"type":"score","instructions":"i","criteria":["a",null]}"#,
                "level 1 is null",
            ),
            (
                r#"{"type":"noul","instructions":"i","criteria":{"yes":"a"}}"#,
                "unknown key \"yes\"",
            ),
            (
                r#"{"type":"score","instructions":"i","criteria":["a"],"labels":{}}"#,
                "noul",
            ),
            (
                r#"{"type":"noul","instructions":"i","labels":{"true":"a","false":"a"}}"#,
                "two",
            ),
            (
                r#"{"type":"choice","instructions":"i","criteria":["a","b"],"option_order":[0,0]}"#,
                "each of 0 to 1 once",
            ),
        ];
        for (definition, part) in cases {
            let message = reason(definition);
            assert!(message.starts_with("question \"q\": "), "{message}");
            assert!(message.contains(part), "{definition}: {message}");
        }
    }

    #[test]
    fn options_are_rendered_as_the_reference_does() {
        let text = r#"{
            "a": {"type": "choice", "instructions": {"k": 1},
                  "criteria": {"x": "ex", "y": "", "z": 0, "o": {"b": [1]}}},
            "b": {"type": "choice", "instructions": "i", "criteria": [1.5, true, "t"]},
            "c": {"type": "score", "instructions": "i", "criteria": ["low", 2]},
            "d": {"type": "noul", "instructions": "i", "criteria": {"True": "sure"},
                  "labels": {"true": " yes ", "false": "no"}}}"#;
        let all = Question::parse_all(text.as_bytes()).unwrap();
        let options: Vec<&[String]> = all.iter().map(|q| &q.options[..]).collect();
        assert_eq!(options[0], ["x: ex", "y", "z: 0", r#"o: {"b": [1]}"#]);
        assert_eq!(options[1], ["1.5", "True", "t"]);
        assert_eq!(options[2], ["level 0: low", "level 1: 2"]);
        assert_eq!(
            options[3],
            ["no: no, the statement does not hold", "yes: sure"]
        );
        assert_eq!(all[0].instructions, r#"{"k": 1}"#);
    }
}
