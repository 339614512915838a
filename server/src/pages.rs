//! The pages of the crate `app`, rendered on the server: their routes, what they read, and the policy of their scripts.
//! It holds no HTML.

use app::App as Pages;
use axum::Router;
use axum::http::{HeaderValue, header};
use leptos::nonce::use_nonce;
use leptos::prelude::{provide_context, use_context};
use leptos_axum::{LeptosRoutes, ResponseOptions, generate_route_list, render_app_async_with_context};

use crate::access;
use crate::state::App;

/// Routes of all pages; whatever no other route takes is answered by the page that says so.
pub fn router(app: &App) -> Router<App> {
    let shell = {
        let options = app.leptos.clone();
        move || app::shell(options.clone())
    };
    let context = {
        let backend = app.backend.clone();
        move || {
            provide_context(backend.clone());
            set_policy();
        }
    };
    Router::new()
        .leptos_routes_with_context(app, generate_route_list(Pages), context.clone(), shell.clone())
        .fallback(render_app_async_with_context(context, shell))
}

/// Allows the page's own scripts, by the nonce that they carry.
fn set_policy() {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) else { return };
    if let Ok(policy) = HeaderValue::from_str(&access::page_policy(&nonce)) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}
