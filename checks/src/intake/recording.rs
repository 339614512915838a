//! `run.json` of a recording: which run and node the files beside it belong to.
//!
//! It does not read the files beside it; each of them is an input of its own.

use super::Part;
use crate::recording::RunInfo;

pub(super) fn looks(head: &str) -> bool {
    let start: String = head.chars().take(400).filter(|c| !c.is_whitespace()).collect();
    start.starts_with('{') && start.contains("\"kind\":\"run\"")
}

pub(super) fn run(text: &str, part: &mut Part) {
    let run: RunInfo = match serde_json::from_str(text) {
        Ok(run) => run,
        Err(e) => {
            part.note(None, format!("The run's description could not be read: {e}."));
            return;
        }
    };
    part.host = run.node;
    part.run = run.name.or((!run.id.is_empty()).then_some(run.id));
    part.taken_ms = run.started_ms;
    match run.exit_status {
        Some(0) => {}
        Some(n @ 129..=192) => part.note(None, format!("The command was ended by signal {}.", n - 128)),
        Some(n) => part.note(None, format!("The command ended with status {n}.")),
        None => part.note(None, "The recording has no end: the run goes on, or the recorder was stopped."),
    }
    for text in run.receipt.iter().flat_map(|r| &r.unreadable) {
        part.note(None, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::Kind;

    #[test]
    fn a_run_names_its_node_and_how_it_ended() {
        let text = r#"{"v": 1, "kind": "run", "id": "0190", "name": "bert", "node": "n1", "exit_status": 137,
                       "receipt": {"unreadable": ["NVML is not there."]}, "colour": "green"}"#;
        assert!(looks(text));
        let mut part = Part::new(0, Kind::Recording);
        run(text, &mut part);
        assert_eq!((part.host.as_deref(), part.run.as_deref()), (Some("n1"), Some("bert")));
        let notes: Vec<&str> = part.notes.iter().map(|n| n.text.as_str()).collect();
        assert_eq!(notes, ["The command was ended by signal 9.", "NVML is not there."]);
    }
}
