//! Lays the Python step timings into the recording's folder and names the environment that loads them.
//!
//! The Python files are part of this binary; what they do is written in them.

use std::env;
use std::fs;
use std::io;
use std::path::Path;

use crate::cli::RunArgs;

/// Folder of the Python files, hidden so that it is no part of the recording.
const FOLDER: &str = ".python";

const FILES: &[(&str, &str)] = &[
    ("sitecustomize.py", include_str!("../../python/site/sitecustomize.py")),
    ("sextant/__init__.py", include_str!("../../python/sextant/__init__.py")),
    ("sextant_steps/__init__.py", include_str!("../../python/sextant_steps/__init__.py")),
    ("sextant_steps/_hooks.py", include_str!("../../python/sextant_steps/_hooks.py")),
    ("sextant_steps/_recorder.py", include_str!("../../python/sextant_steps/_recorder.py")),
    ("sextant_steps/_writer.py", include_str!("../../python/sextant_steps/_writer.py")),
];

/// Writes the files and gives the variables that the command needs.
pub(crate) fn lay(folder: &Path, run: &str, args: &RunArgs) -> io::Result<Vec<(String, String)>> {
    let python = folder.join(FOLDER);
    for (name, text) in FILES {
        let path = python.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&python))?;
        // Ranks that start together write the same bytes; a rename keeps a reader from seeing half of them.
        let partial = path.with_extension(format!("{}.partial", std::process::id()));
        fs::write(&partial, text)?;
        fs::rename(&partial, &path)?;
    }
    let mut variables = vec![
        ("SEXTANT_DIR".to_owned(), folder.display().to_string()),
        ("SEXTANT_RUN_ID".to_owned(), run.to_owned()),
        ("PYTHONPATH".to_owned(), python_path(&python, env::var("PYTHONPATH").ok().as_deref())),
    ];
    if let Some(steps) = args.trace_steps {
        variables.push(("SEXTANT_TRACE_STEPS".to_owned(), steps.to_string()));
    }
    Ok(variables)
}

/// Our folder first, then what was there, byte for byte: an empty entry means the working folder to Python.
fn python_path(ours: &Path, before: Option<&str>) -> String {
    match before {
        Some(before) => format!("{}:{before}", ours.display()),
        None => ours.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_s_path_stays_as_it_was() {
        let ours = Path::new("/rec/.python");
        assert_eq!(python_path(ours, Some("/a b:/c:")), "/rec/.python:/a b:/c:");
        assert_eq!(python_path(ours, None), "/rec/.python");
    }
}
