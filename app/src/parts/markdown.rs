//! Markdown of the catalogue as HTML: paragraphs, lists, links, code with a copy button. Raw HTML in it becomes text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// The end of a code block: the same button as a command has.
const COPY: &str = "</code></pre><button class=\"btn small needs-live\" type=\"button\" data-copy=\"\" \
    aria-label=\"Copy command\">Copy</button></div>";

/// Renders a text of the catalogue. The result holds only tags that this function writes.
pub(crate) fn to_html(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        Event::Start(Tag::CodeBlock(_)) => Event::Html("<div class=\"cmd\"><pre><code>".into()),
        Event::End(TagEnd::CodeBlock) => Event::Html(COPY.into()),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) if !safe(&dest_url) => {
            Event::Start(Tag::Link { link_type, dest_url: "#".into(), title, id })
        }
        other => other,
    });
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, events);
    out
}

/// Links lead to pages, not to scripts.
fn safe(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://") || url.starts_with('/') || url.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_code_and_emphasis_are_kept() {
        let html = to_html("One `x`.\n\n- a\n- **b**\n\n```text\nnvidia-smi -q\n```\n");
        assert!(html.contains("<code>x</code>"), "{html}");
        assert!(html.contains("<li>a</li>"), "{html}");
        assert!(html.contains("<strong>b</strong>"), "{html}");
        assert!(html.contains("<pre><code>nvidia-smi -q\n</code></pre><button"), "{html}");
    }

    #[test]
    fn raw_html_and_script_links_become_harmless() {
        let html = to_html("a <script>alert(1)</script> b\n\n<img src=x onerror=y>\n\n[c](javascript:alert(1))");
        assert!(!html.contains("<script"), "{html}");
        assert!(!html.contains("<img"), "{html}");
        assert!(html.contains("&lt;script&gt;"), "{html}");
        assert!(!html.contains("javascript:"), "{html}");
    }
}
