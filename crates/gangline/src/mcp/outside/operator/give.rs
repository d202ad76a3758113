//! What is new for a client, and giving it: a letter is read then, a question and an answer are given
//! to this client once.

use gangline_core::{MessageId, MessageState, QuestionNumber, question::Choose};
use gangline_store::{LetterRow, MessageRow, QuestionRow, StoreError};
use serde_json::{Value, json};

use super::{Given, Site};

/// Something that a client has not been given.
pub(super) enum News {
    Letter(LetterRow),
    Question(Box<QuestionRow>),
    /// The agent's answer to what was asked here, or why there is none.
    Answer(Box<MessageRow>),
}

/// Returns what is new: questions first, since somebody waits for them.
pub(super) async fn news(site: Site<'_>, given: &Given) -> Result<Vec<News>, StoreError> {
    let mut news = Vec::new();
    for row in site.questions().await? {
        if !given.questions.contains(&row.number) {
            news.push(News::Question(Box::new(row)));
        }
    }
    news.extend(site.letters(true).await?.into_iter().map(News::Letter));
    for id in &given.asked {
        let row = site.store.message(*id).await?;
        let ended = row.filter(|row| row.state.is_terminal());
        news.extend(ended.map(|row| News::Answer(Box::new(row))));
    }
    Ok(news)
}

/// Gives the first of them.
pub(super) async fn give(
    site: Site<'_>,
    given: &mut Given,
    (mut news, max): (Vec<News>, usize),
) -> Result<String, StoreError> {
    let pending = news.len().saturating_sub(max);
    news.truncate(max);
    let messages: Vec<Value> = news.iter().map(|news| shown(site, news)).collect();
    let (mut letters, mut questions, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for news in &news {
        match news {
            News::Letter(row) => letters.push(row.id),
            News::Question(row) => questions.push(row.number),
            News::Answer(row) => answers.push(row.id),
        }
    }
    if !letters.is_empty() {
        site.store.read_letters(letters).await?;
    }
    remember(given, questions, &answers);
    Ok(json!({"messages": messages, "pending": pending}).to_string())
}

fn remember(given: &mut Given, questions: Vec<QuestionNumber>, answers: &[MessageId]) {
    given.questions.extend(questions);
    given.asked.retain(|id| !answers.contains(id));
}

fn shown(site: Site<'_>, news: &News) -> Value {
    let message = |id: String, origin: &str, body: &str| json!({"id": id, "from": site.agent, "to": "operator", "body": body, "origin": origin});
    match news {
        News::Letter(row) => message(row.id.to_string(), "letter", row.body.as_str()),
        News::Question(row) => {
            let mut shown = message(row.number.to_string(), "question", row.body.as_str());
            shown["question"] = json!({"event": "QuestionAsked", "id": row.number,
                "asker": row.agent, "question": row.body.as_str(), "options": row.options,
                "multi": row.choose == Choose::Several});
            shown
        }
        News::Answer(row) => {
            let none = || match row.state {
                MessageState::NoReply => "(the agent says that no reply is needed)".to_owned(),
                state => format!("(no answer: {state})"),
            };
            let body = row.answer.as_ref().map_or_else(none, |answer| answer.to_string());
            message(row.id.to_string(), "answer", &body)
        }
    }
}
