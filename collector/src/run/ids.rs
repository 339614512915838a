//! Which run this is, and which of its processes records the node: several recorders of one run on one node must agree
//! without talking to each other.
//!
//! It reads the environment that launchers set; it starts nothing.

use std::env;
use std::path::PathBuf;

/// Where this process stands within its run.
#[derive(Debug)]
pub(crate) struct Place {
    /// The run's id, a UUID.
    pub id: String,
    /// What the id was made of, where several recorders share it.
    pub shared: Option<String>,
    /// Folder of the recorder around this one.
    pub inside: Option<PathBuf>,
    /// This process samples the node: it is the only recorder here, or the first rank of its node.
    pub records: bool,
    /// World size, where the launcher tells it.
    pub world: Option<i64>,
}

/// Reads the environment.
pub(crate) fn place() -> Place {
    let number = |name: &str| env::var(name).ok()?.parse::<i64>().ok();
    let local =
        number("LOCAL_RANK").or_else(|| number("SLURM_LOCALID")).or_else(|| number("OMPI_COMM_WORLD_LOCAL_RANK"));
    let shared = shared(|name| env::var(name).ok().filter(|v| !v.is_empty()));
    Place {
        id: env::var("SEXTANT_RUN_ID").ok().filter(|id| uuid::Uuid::parse_str(id).is_ok()).unwrap_or_else(|| {
            match &shared {
                Some(text) => id_of(text),
                None => uuid::Uuid::now_v7().to_string(),
            }
        }),
        inside: env::var_os("SEXTANT_DIR").map(PathBuf::from),
        records: shared.is_none() || local.is_none_or(|l| l == 0),
        world: number("WORLD_SIZE").or_else(|| number("SLURM_NTASKS")).filter(|n| *n > 0),
        shared,
    }
}

/// What all recorders of one run have in common: the job step of Slurm, or the rendezvous of torchrun.
fn shared(var: impl Fn(&str) -> Option<String>) -> Option<String> {
    if let (Some(job), Some(step)) = (var("SLURM_JOB_ID"), var("SLURM_STEP_ID")) {
        return Some(format!("slurm {job}.{step} {}", var("SLURM_CLUSTER_NAME").unwrap_or_default()));
    }
    // Outside of ranks there is no rendezvous to share. Without an id of its own a rendezvous is named “none”.
    var("LOCAL_RANK")?;
    let id = var("TORCHELASTIC_RUN_ID")?;
    Some(format!("torchrun {id} {}:{}", var("MASTER_ADDR").unwrap_or_default(), var("MASTER_PORT").unwrap_or_default()))
}

/// A UUID made of a text: the same for the same text, on every node.
fn id_of(text: &str) -> String {
    let hash = blake3::derive_key("sextant run id v1", text.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_one_job_step_share_an_id() {
        let step = |n: &str| {
            let n = n.to_owned();
            shared(move |name| match name {
                "SLURM_JOB_ID" => Some("77".into()),
                "SLURM_STEP_ID" => Some(n.clone()),
                _ => None,
            })
        };
        let (a, b) = (step("0").map(|t| id_of(&t)), step("0").map(|t| id_of(&t)));
        assert!(a.is_some() && a == b);
        assert_ne!(a, step("1").map(|t| id_of(&t)));
        assert!(a.is_some_and(|a| uuid::Uuid::parse_str(&a).is_ok()));
        assert_eq!(shared(|_| None), None);
    }
}
