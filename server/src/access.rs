//! Who may ask: on a loopback address one person, without a login. A web page of somewhere else must not reach through
//! that person's browser, hence the checks of `Host` (DNS rebinding) and `Origin` (forged writes). It also sets the
//! headers that every answer carries.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::state::App;

/// Policy of answers that are no page of ours: nothing in them may load or run anything.
const INERT: &str = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// The policy of a page whose scripts carry this nonce. Inline `style` attributes hold data (widths of bars), which is
/// why they are allowed; style elements are not.
#[must_use]
pub fn page_policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Refuses foreign hosts, and writes that another site's page sends.
pub async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let host = match host(request.headers(), request.uri()) {
        Some(host) if is_local(host.host()) => host,
        host => {
            let host = host.map_or_else(|| "no host".to_owned(), |h| format!("“{}”", crate::label::file(h.as_str())));
            let port = app.config.listen.port();
            let refused = Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "host",
                "The request names another host",
                format!("This server answers to localhost, 127.0.0.1 and [::1]; the request names {host}."),
                format!("Open http://127.0.0.1:{port}; from another machine, use ssh -L {port}:127.0.0.1:{port} HOST."),
            );
            return refused.into_response();
        }
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !reads && !from_here(request.headers(), &host) {
        let refused = Problem::new(
            StatusCode::FORBIDDEN,
            "origin",
            "The write comes from another site",
            "The request was sent by a page of another origin. Nothing was stored.",
            "Use the pages of this server, or a program that sends no Origin header.",
        );
        return refused.into_response();
    }
    next.run(request).await
}

/// Adds the security headers; a page that set its own policy keeps it.
pub async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(INERT));
    response
}

/// The host that the request names; `None` if it names none, several or nonsense.
fn host(headers: &HeaderMap, uri: &Uri) -> Option<Authority> {
    let mut named = headers.get_all(header::HOST).iter();
    let in_header = match (named.next(), named.next()) {
        (Some(one), None) => Some(one.to_str().ok()?.parse::<Authority>().ok()?),
        (None, _) => None,
        _ => return None,
    };
    match (in_header, uri.authority()) {
        (Some(h), Some(u)) if h != *u => None,
        (Some(h), _) => Some(h),
        (None, Some(u)) => Some(u.clone()),
        (None, None) => None,
    }
}

fn is_local(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1" || host == "[::1]"
}

/// A browser says where a write comes from by `Origin`, or at least by `Sec-Fetch-Site`; a program sends neither.
fn from_here(headers: &HeaderMap, host: &Authority) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return headers.get("sec-fetch-site").is_none_or(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    };
    let Ok(origin) = origin.to_str() else { return false };
    let Some(authority) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else {
        return false;
    };
    authority.eq_ignore_ascii_case(host.as_str())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in list {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    #[test]
    fn only_one_local_host_is_taken() {
        let named = |list: &[(&'static str, &str)], uri: &str| {
            host(&headers(list), &uri.parse().unwrap()).is_some_and(|h| is_local(h.host()))
        };
        for fine in ["localhost", "LOCALHOST:80", "127.0.0.1:8077", "[::1]:8077", "[::1]"] {
            assert!(named(&[("host", fine)], "/"), "{fine}");
        }
        for bad in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8077", "0.0.0.0", "user@", ""] {
            assert!(!named(&[("host", bad)], "/"), "{bad}");
        }
        assert!(!named(&[], "/"));
        assert!(!named(&[("host", "localhost"), ("host", "evil.example")], "/"));
        assert!(!named(&[("host", "localhost")], "http://evil.example/"));
        assert!(named(&[], "http://localhost:8077/"));
    }

    #[test]
    fn writes_come_from_our_pages_or_from_programs() {
        let host: Authority = "localhost:8077".parse().unwrap();
        for (list, fine) in [
            (vec![], true),
            (vec![("origin", "http://localhost:8077")], true),
            (vec![("origin", "http://localhost:1")], false),
            (vec![("origin", "http://evil.example")], false),
            (vec![("origin", "null")], false),
            (vec![("sec-fetch-site", "same-origin")], true),
            (vec![("sec-fetch-site", "cross-site")], false),
            (vec![("sec-fetch-site", "same-site")], false),
        ] {
            assert_eq!(from_here(&headers(&list), &host), fine, "{list:?}");
        }
    }
}
