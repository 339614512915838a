//! A real Chromium, driven through ChromeDriver: what it shows and what it lets a user do.
//!
//! Waiting is always for something to be seen, never for a time.

use std::future::Future;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http;

/// How long a page may take to show something on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a browser is set up.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Script is allowed.
    pub script: bool,
    /// Window width in CSS pixels.
    pub width: u32,
    /// Window height in CSS pixels.
    pub height: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { script: true, width: 1440, height: 1000 }
    }
}

/// One browser window with a profile of its own.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    driver: String,
}

impl Browser {
    /// Starts a browser, hands it to `test`, and ends it whatever `test` says.
    ///
    /// # Errors
    /// Chromium or ChromeDriver is missing or does not start, or the test fails.
    pub async fn with<F>(options: Options, test: impl FnOnce(Self) -> F) -> Result<()>
    where
        F: Future<Output = Result<()>>,
    {
        let driver = Driver::start()?;
        let client = connect(&driver, options).await?;
        let outcome = test(Self { client: client.clone(), driver: driver.url.clone() }).await;
        if outcome.is_err()
            && let Ok(url) = client.current_url().await
        {
            eprintln!("the browser stood at {url}");
        }
        let _ = client.close().await;
        outcome
    }

    /// The driver's client, for what is not wrapped here.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Opens an address.
    ///
    /// # Errors
    /// It does not load.
    pub async fn open(&self, url: &str) -> Result<()> {
        self.client.goto(url).await.with_context(|| format!("open {url}"))
    }

    /// The address that is shown.
    ///
    /// # Errors
    /// The driver does not answer.
    pub async fn url(&self) -> Result<String> {
        Ok(self.client.current_url().await?.to_string())
    }

    /// Waits until the address contains a text.
    ///
    /// # Errors
    /// It does not in time.
    pub async fn wait_url(&self, part: &str) -> Result<String> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let url = self.url().await?;
            if url.contains(part) {
                return Ok(url);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("the address is {} and never contained {part:?}", self.url().await?)
    }

    /// Waits until the islands of the page are alive.
    ///
    /// # Errors
    /// They do not come alive in time.
    pub async fn wait_live(&self) -> Result<()> {
        self.wait("html[data-live]").await
    }

    /// Waits until an element is there.
    ///
    /// # Errors
    /// It is not in time.
    pub async fn wait(&self, css: &str) -> Result<()> {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        found.map(drop).with_context(|| format!("waiting for {css}"))
    }

    /// Clicks on an element, as a user does: it has to be visible and not covered.
    ///
    /// # Errors
    /// It is not there or cannot be clicked.
    pub async fn click(&self, css: &str) -> Result<()> {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        found.with_context(|| format!("looking for {css}"))?.click().await.with_context(|| format!("click on {css}"))
    }

    /// Types into an element; for a file field, the path.
    ///
    /// # Errors
    /// It is not there or does not take keys.
    pub async fn keys(&self, css: &str, text: &str) -> Result<()> {
        let found = self.client.find(Locator::Css(css)).await.with_context(|| format!("looking for {css}"))?;
        found.send_keys(text).await.with_context(|| format!("keys for {css}"))
    }

    /// The visible text of the first such element.
    ///
    /// # Errors
    /// It is not there.
    pub async fn text(&self, css: &str) -> Result<String> {
        let found = self.client.find(Locator::Css(css)).await.with_context(|| format!("looking for {css}"))?;
        Ok(found.text().await?)
    }

    /// The answer of a piece of script; it looks at the page, it does not act for the user.
    ///
    /// # Errors
    /// It throws.
    pub async fn ask(&self, script: &str) -> Result<Value> {
        self.client.execute(script, Vec::new()).await.with_context(|| format!("script {script}"))
    }

    /// What the page and its scripts have complained about so far.
    ///
    /// # Errors
    /// The driver does not answer.
    pub async fn complaints(&self) -> Result<Vec<String>> {
        let session = self.client.session_id().await?.context("a browser has a session")?;
        let url = format!("{}/session/{session}/se/log", self.driver);
        let log = http::post(&url, "application/json", br#"{"type":"browser"}"#)?.expect(&[200])?.json()?;
        let entries = log["value"].as_array().cloned().unwrap_or_default();
        let grave = entries.iter().filter(|e| e["level"] == "SEVERE");
        Ok(grave.map(|e| e["message"].as_str().unwrap_or_default().to_owned()).collect())
    }

    /// A picture of the window as PNG.
    ///
    /// # Errors
    /// The driver does not answer.
    pub async fn screenshot(&self) -> Result<Vec<u8>> {
        Ok(self.client.screenshot().await?)
    }
}

/// A ChromeDriver of its own process group, so that no Chromium outlives a test.
struct Driver {
    child: Child,
    url: String,
    profile: TempDir,
}

impl Driver {
    fn start() -> Result<Self> {
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={}", addr.port())).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context(
            "chromedriver could not be started. `cargo xtask test` installs it where it may (Debian: apt-get install chromium chromium-driver)",
        )?;
        let driver = Self { child, url: format!("http://{addr}"), profile: tempfile::tempdir()? };
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(addr).is_err() {
            if Instant::now() > deadline {
                bail!("chromedriver does not answer on {addr}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(driver)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

async fn connect(driver: &Driver, options: Options) -> Result<Client> {
    let mut args = vec![
        "--headless".to_owned(),
        "--no-sandbox".into(),
        "--disable-gpu".into(),
        "--disable-dev-shm-usage".into(),
        "--disable-quic".into(),
        "--no-first-run".into(),
        "--disable-background-networking".into(),
        "--disable-component-update".into(),
        "--disable-sync".into(),
        "--force-color-profile=srgb".into(),
    ];
    args.push(format!("--user-data-dir={}", driver.profile.path().display()));
    args.push(format!("--window-size={},{}", options.width, options.height));
    let mut chrome = json!({ "args": args });
    if !options.script {
        chrome["prefs"] = json!({ "profile.managed_default_content_settings.javascript": 2 });
    }
    let wanted = json!({ "goog:chromeOptions": chrome, "goog:loggingPrefs": { "browser": "ALL" } });
    let Value::Object(wanted) = wanted else { bail!("capabilities are an object") };
    // ChromeDriver speaks plain HTTP on loopback; no TLS is wanted.
    let mut builder = ClientBuilder::new(HttpConnector::new());
    builder.capabilities(wanted).connect(&driver.url).await.context("a browser session could not be started")
}
