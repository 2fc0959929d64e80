//! The log of a real nginx, asked by curl with several User-Agents. Skipped without nginx or curl.

use super::{json_line, lines, requests, with_log};
use crate::waiting::wait_until;
use std::process::{Child, Command, Stdio};

/// The server, which ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_installed(program: &str, argument: &str) -> bool {
    let ran = Command::new(program)
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let is_there = ran.is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("SKIPPED: {program} is not installed");
    }
    is_there
}

#[test]
fn the_log_of_nginx_is_audited() {
    if !is_installed("nginx", "-v") || !is_installed("curl", "--version") {
        return;
    }
    let dir = with_log("");
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let root = dir.root().display();
    let config = format!(
        "daemon off; master_process off; pid {root}/pid; error_log {root}/error.log;
        events {{}}
        http {{ client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
        uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5; access_log {root}/access.log combined;
        server {{ listen 127.0.0.1:{port}; location / {{ return 200 'x'; }} }} }}"
    );
    dir.write("nginx.conf", config);
    let conf = dir.path("nginx.conf");
    let server = Command::new("nginx")
        .arg("-c")
        .arg(&conf)
        .arg("-p")
        .arg(dir.root())
        .stderr(Stdio::null())
        .spawn();
    let server = Server(server.unwrap());
    wait_until("nginx to listen", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    for (path, agent) in [
        ("/robots.txt", "GPTBot/1.2"),
        (
            "/private/a?x=%22",
            "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        ),
        ("/private/b", "a \"quoted\" gptbot \\"),
        ("/b", "CCBot/2.0"),
        ("/cart", "Mozilla/5.0 (X11; Linux x86_64)"),
    ] {
        let url = format!("http://127.0.0.1:{port}{path}");
        let status = Command::new("curl")
            .args(["-s", "-o", "/dev/null", "-A", agent, &url])
            .status()
            .unwrap();
        assert!(status.success(), "{path}");
    }
    wait_until("five lines of the log of nginx", || {
        let log = std::fs::read_to_string(dir.path("access.log"));
        log.is_ok_and(|log| log.lines().count() == 5)
    });
    drop(server);
    let report = json_line(&dir, "-s a --host https://example.com access.log");
    assert_eq!(lines(&report), [5, 0, 1]);
    assert_eq!(requests(&report, "GPTBot"), [3, 1, 2, 0, 1]);
    assert_eq!(requests(&report, "CCBot"), [1, 0, 1, 0, 0]);
}
