//! What becomes of lines while the store cannot write.

use std::time::Duration;

use gangline_irc::client::LinkEvent;
use gangline_store::MessageFilter;

use super::*;
use crate::chat::tests::Rig;

pub(in crate::chat) fn line(text: &str) -> Line {
    Line {
        kind: WireKind::Privmsg,
        target: "oak-ada".parse().unwrap(),
        nick: "otto".to_owned(),
        account: None,
        principal: None,
        msgid: None,
        server_time: None,
        cursor: None,
        text: text.to_owned(),
        gangline_id: None,
        from_history: false,
        reply_to: None,
        bot: false,
    }
}

pub(in crate::chat) fn up(caps: &[&str]) -> LinkEvent {
    LinkEvent::Up {
        nick: "oak-ada".to_owned(),
        caps: caps.iter().map(|cap| (*cap).to_owned()).collect(),
        network: "net".to_owned(),
        own_server: false,
        first: true,
        connection: 1,
    }
}

/// A prompt that comes while somebody holds the store's lock is taken in when the lock is free, in
/// its order, from a server that will not say it again. One that keeps a history is asked instead.
#[tokio::test]
async fn what_no_server_says_again_is_kept_until_the_store_takes_it() {
    for history in [false, true] {
        let Rig { mut chat, mut rooms, folder, .. } =
            Rig::hasty(false, Duration::from_millis(500)).await;
        let caps: &[&str] = if history { &["batch", "draft/chathistory"] } else { &[] };
        chat.link_event(up(caps)).await;
        let lock = std::fs::File::open(folder.path().join("gangline.db.wlock")).unwrap();
        lock.lock().unwrap();
        for text in ["first", "second"] {
            chat.link_event(LinkEvent::Line(line(text))).await;
        }
        chat.take_kept().await;
        drop(lock);
        // While some wait, those that come later do not overtake them.
        if !history {
            chat.link_event(LinkEvent::Line(line("third"))).await;
        }
        let expect: &[&str] = if history { &[] } else { &["first", "second", "third"] };
        // Whoever waited for the lock gets it now, sooner or later.
        let all = async {
            loop {
                chat.take_kept().await;
                let rows = chat.deps.store.messages(MessageFilter::default(), 10).await.unwrap();
                if rows.len() >= expect.len() {
                    return rows;
                }
            }
        };
        let rows = tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
        let mut taken: Vec<(i64, &str)> =
            rows.iter().map(|row| (row.id.0, row.body.as_str())).collect();
        taken.sort_unstable();
        let taken: Vec<&str> = taken.into_iter().map(|(_, text)| text).collect();
        assert_eq!(taken, expect, "history: {history}");
        let mut read = 0;
        while rooms.try_recv().is_ok() {
            read += 1;
        }
        assert_eq!(read, taken.len(), "the agent may read what was taken in");
    }
}
