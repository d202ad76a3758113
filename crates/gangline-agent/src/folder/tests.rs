use std::fs;

use gangline_core::finding::FindingState;
use gangline_os::clock;
use gangline_store::{FindingAnswer, FindingRow, OpenOptions};

use super::*;

struct Rig {
    top: tempfile::TempDir,
    store: Store,
    folder: Folder,
}

impl Rig {
    async fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        let agent: AgentName = "oak-ada".parse().unwrap();
        let folder = Folder {
            agent,
            path: top.path().join("work"),
            home: Some(top.path().to_owned()),
            brings: programs::of("claude", &[], None),
            copies: top.path().join("copies"),
        };
        let rig = Self { top, store, folder };
        rig.write("README.md", "hello");
        rig
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.top.path().join("work").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn look(&self) -> Look {
        self.folder.look(&self.store).await.unwrap()
    }

    /// What a start of the daemon tells.
    async fn start(&self) -> Look {
        let look = self.look().await;
        tell(&self.store, &self.folder, &look).await;
        look
    }

    async fn findings(&self) -> Vec<FindingRow> {
        self.store.findings(FindingFilter { agent: None, resolved: true }, 9).await.unwrap()
    }
}

/// A word allows exactly what was shown, by enough of its hash; a change of it is asked about again,
/// while the old copy stays.
#[tokio::test]
async fn exactly_what_was_shown_is_allowed() {
    let rig = Rig::new().await;
    let (store, folder) = (&rig.store, &rig.folder);
    assert_eq!(rig.look().await.standing(), Standing::Nothing);
    let empty = rig.look().await;
    let error = folder.allow(store, &empty, (&empty.scan.hash(), "boss")).await.unwrap_err();
    assert!(matches!(error, NotAllowed::Nothing(_)), "{error}");

    rig.write(".mcp.json", "{}");
    let look = rig.look().await;
    assert_eq!(look.standing(), Standing::LeftOut);
    let hash = look.scan.hash();
    for wrong in ["", &hash[..4], "0123456789ab", "../../etc"] {
        let error = folder.allow(store, &look, (wrong, "boss")).await.unwrap_err();
        assert!(matches!(error, NotAllowed::Other { .. }), "{wrong}: {error}");
    }
    assert_eq!(rig.look().await.row, None);
    let row = folder.allow(store, &look, (&short(&hash).to_uppercase(), "boss")).await.unwrap();
    assert_eq!((row.allows(), row.by.as_str()), (Some(hash.as_str()), "boss"));
    assert_eq!(rig.look().await.standing(), Standing::Allowed);

    rig.write(".mcp.json", r#"{"mcpServers": {}}"#);
    let look = rig.look().await;
    assert_eq!(look.standing(), Standing::Changed);
    let told = look.told(folder).unwrap();
    let command = format!("gangline trust allow oak-ada {}", short(&look.scan.hash()));
    assert!(told.contains(&command) && told.contains(".mcp.json (servers)"), "{told}");
    let old = Trusted { hash, copies: folder.copies.clone() };
    assert!(copy::open(&old).is_ok(), "the old copy stays");

    assert!(folder.revoke(store, &look, "boss").await.unwrap());
    let look = rig.look().await;
    assert_eq!(look.standing(), Standing::LeftOut);
    assert!(copy::open(&old).is_err(), "and goes with the word");
    assert!(!folder.revoke(store, &look, "boss").await.unwrap());
}

/// Each content that is left out is reported once. It stays in the attention list until somebody decides or
/// until it is gone.
#[tokio::test]
async fn what_is_left_out_is_told_once_for_each_content() {
    let rig = Rig::new().await;
    rig.start().await;
    assert_eq!(rig.findings().await, []);
    rig.write(".mcp.json", "{}");
    rig.start().await;
    rig.start().await;
    let rows = rig.findings().await;
    assert_eq!(rows.len(), 1);
    assert!(rows[0].cause.as_str().contains("gangline trust show oak-ada"), "{}", rows[0].cause);
    let waits = rig.store.attention(clock::system().now()).await.unwrap();
    assert_eq!(waits.len(), 1);
    rig.store
        .answer_finding(FindingAnswer {
            number: rows[0].number,
            choice: ChoiceWord::Dismiss,
            by: "boss".to_owned(),
            released: 0,
        })
        .await
        .unwrap();
    rig.start().await;
    assert_eq!(rig.findings().await.len(), 1, "it was put away");
    rig.write(".mcp.json", "{ }");
    rig.start().await;
    let rows = rig.findings().await;
    assert_eq!((rows.len(), rows[0].state), (2, FindingState::Open), "it is another one");
    fs::remove_file(rig.top.path().join("work/.mcp.json")).unwrap();
    rig.start().await;
    assert_eq!(rig.findings().await[0].state, FindingState::Resolved);
}
