//! `tabsense decide`: typed questions of scripts, answered by the worker's model.

use std::time::{Duration, Instant};

use tabsense_model::{Answer, Json, Question, Refused, Runner, State, Status, answers_json};
use tabsense_protocol::reply::{self, Decided, DecidedAnswer, Reason};
use tabsense_protocol::request::Decide;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::judge::Judge;
use crate::server::refused;

/// A model that is still being loaded is waited for this long.
const LOAD_LIMIT: Duration = Duration::from_secs(30);

/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(5);

/// A script waits longer than a person at a prompt, but not for ever.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// What a document of questions looks like, for those whose document is something else.
const EXAMPLE: &str =
    r#"{"next": {"type": "choice", "instructions": "what to do?", "criteria": ["build", "test"]}}"#;

/// Answers questions about a state.
pub(crate) async fn answer(judge: &Judge, asked: &Decide) -> reply::Body {
    let questions = match Question::parse_all(&asked.questions) {
        Ok(questions) => questions,
        Err(error) => return bad_question(&error.to_string()),
    };
    let runner = match ready(judge).await {
        Ok(runner) => runner,
        Err(refusal) => return refusal,
    };
    let (send, receive) = oneshot::channel();
    let deadline = Some(Instant::now() + ANSWER_LIMIT);
    runner.ask(
        state(&asked.state),
        questions.clone(),
        deadline,
        |outcome| {
            drop(send.send(outcome));
        },
    );
    match receive.await {
        Ok(Ok(answers)) => decided(&questions, answers),
        Ok(Err(Refused::Failed(why))) => bad_question(&why),
        Ok(Err(why @ Refused::Busy)) => refused(Reason::Busy, why.to_string(), "ask again"),
        Ok(Err(why)) => refused(Reason::Failed, why.to_string(), "ask again"),
        Err(_) => refused(
            Reason::Failed,
            "the model's thread has ended",
            "`tabsense worker restart`",
        ),
    }
}

/// The model, once it is loaded; or the refusal that says why there is none.
async fn ready(judge: &Judge) -> Result<&Runner, reply::Body> {
    let without = |why: &str| {
        let why = why.strip_prefix("off: ").unwrap_or(why);
        refused(
            Reason::Failed,
            format!("no decision model: {why}"),
            "`tabsense model use builtin`",
        )
    };
    let runner = judge.runner().map_err(without)?;
    let end = Instant::now() + LOAD_LIMIT;
    loop {
        match runner.status() {
            Status::Ready(_) => return Ok(runner),
            Status::Failed(why) => return Err(without(&why)),
            Status::Loading if Instant::now() > end => {
                return Err(refused(
                    Reason::Busy,
                    "the model is still being loaded",
                    "ask again",
                ));
            }
            Status::Loading => sleep(LOOK).await,
        }
    }
}

/// A JSON list or object is read as one, as the reference does: of a list that is too long the
/// oldest turns are dropped. Anything else is plain text.
fn state(bytes: &[u8]) -> State {
    match Json::parse(bytes) {
        Ok(value @ (Json::List(_) | Json::Map(_))) => State::json(&value),
        _ => State::text(String::from_utf8_lossy(bytes)),
    }
}

fn decided(questions: &[Question], answers: Vec<Answer>) -> reply::Body {
    let short = questions.iter().zip(&answers).map(|(question, answer)| {
        let label = question.labels.get(answer.best());
        DecidedAnswer {
            id: question.id.clone(),
            label: label.map(Json::text).unwrap_or_default(),
            probability: answer.answer_confidence,
        }
    });
    let short = short.collect();
    let paired: Vec<_> = questions.iter().zip(answers).collect();
    reply::Body::Decided(Decided {
        json: answers_json(&paired).to_string(),
        answers: short,
    })
}

/// The model's own message, which names the question; its hint goes where hints belong.
fn bad_question(message: &str) -> reply::Body {
    let (message, hint) = match message.rsplit_once(" (hint: ") {
        Some((message, hint)) => (message, hint.strip_suffix(')').unwrap_or(hint).to_owned()),
        None => (message, format!("for example {EXAMPLE}")),
    };
    refused(Reason::Failed, message, &hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_objects_are_states_of_their_own_and_all_else_is_text() {
        let list = Json::parse(br#"["user: hi", "agent: yes"]"#).expect("JSON");
        assert_eq!(state(br#"["user: hi","agent: yes"]"#), State::json(&list));
        for text in ["cd do", "5", "\"quoted\"", "[not json", ""] {
            assert_eq!(state(text.as_bytes()), State::text(text));
        }
        assert_eq!(state(b"a\xffb"), State::text("a\u{fffd}b"));
    }

    #[test]
    fn the_hint_of_a_message_is_told_as_one() {
        let hint_of = |message: &str| match bad_question(message) {
            reply::Body::Refused(refused) => (refused.message, refused.hint),
            other => panic!("{other:?}"),
        };
        let (message, hint) = hint_of("question \"q\": type is missing (hint: choice or score)");
        assert_eq!(message, "question \"q\": type is missing");
        assert_eq!(hint, "choice or score");
        let (message, hint) = hint_of("questions: no question is asked");
        assert_eq!(message, "questions: no question is asked");
        assert!(Question::parse_all(hint.trim_start_matches("for example ").as_bytes()).is_ok());
    }
}
