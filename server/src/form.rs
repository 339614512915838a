//! `POST /upload`: the plain form of the upload page, for browsers without WASM. Files and paste become uploads, their
//! report is made, and the browser is sent to it. Problems come back as a page.

use axum::extract::State;
use axum::extract::multipart::{Field, Multipart, MultipartError, MultipartRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use crate::api::{reports, uploads};
use crate::label;
use crate::problem::Problem;
use crate::state::App;

/// Most files in one form.
const FILES_MAX: usize = 1000;

/// `POST /upload`
pub async fn post(State(app): State<App>, form: Result<Multipart, MultipartRejection>) -> Response {
    let form = match form {
        Ok(form) => form,
        Err(e) => {
            let fix = "Send it from the upload page.";
            return Problem::bad_request(format!("This is not the upload form: {}.", e.body_text()), fix).page();
        }
    };
    match take(&app, form).await {
        Ok(url) => Redirect::to(&url).into_response(),
        Err(problem) => problem.page(),
    }
}

async fn take(app: &App, mut form: Multipart) -> Result<String, Problem> {
    let mut taken: Vec<(String, Option<String>)> = Vec::new();
    while let Some(field) = form.next_field().await.map_err(|e| broken(&e))? {
        let name = match field.name() {
            Some("files") => field.file_name().unwrap_or_default().to_owned(),
            Some("paste") => String::new(),
            _ => continue,
        };
        let pasted = field.name() == Some("paste");
        if taken.len() == FILES_MAX {
            return Err(Problem::bad_request(
                format!("A form takes at most {FILES_MAX} files."),
                "Send fewer at once.",
            ));
        }
        let received = receive(app, field).await?;
        // A browser sends an empty nameless file where none was chosen, and an empty text where none was pasted.
        if received.blob.bytes == 0 && (pasted || name.is_empty()) {
            continue;
        }
        let name = if pasted { "pasted text".to_owned() } else { label::file(&name) };
        let ack = uploads::store(app, received, name.clone()).await?;
        taken.push((ack.id, Some(name)));
    }
    if taken.is_empty() {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "nothing-sent",
            "Nothing was sent",
            "The form had no file and no text.",
            "Choose a file or paste the output of a command, then send the form.",
        ));
    }
    let (reported, _) = reports::of_uploads(app, taken).await?;
    Ok(reported.url().to_owned())
}

async fn receive(app: &App, field: Field<'_>) -> Result<crate::blobs::Received, Problem> {
    Ok(app.blobs.receive(field, app.max_upload()).await?)
}

fn broken(e: &MultipartError) -> Problem {
    tracing::info!(error = %e, "broken form");
    Problem::new(
        StatusCode::BAD_REQUEST,
        "broken-body",
        "The form broke off",
        "The form ended before it was complete. The file that was under way was not stored.",
        "Send it again.",
    )
}
