//! One robots.txt, without a snapshot: may an agent fetch a path, and why?

use robosieve::judge::{Explanation, explain};
use robosieve::{Agent, AgentMatch, Profile, Robots, Verdict};

const ROBOTS_TXT: &[u8] = b"\
    User-agent: *\n\
    Disallow: /cart\n\
    Allow: /cart/help\n\
    \n\
    User-agent: GPTBot\n\
    Disallow: /\n";

fn main() -> Result<(), robosieve::Error> {
    let robots = Robots::parse(ROBOTS_TXT, Profile::Google);
    let foo_bot: Agent = "FooBot".parse()?;
    let gpt_bot: Agent = "GPTBot".parse()?;

    assert!(robots.allows(&foo_bot, b"/shoes?size=9"));
    assert!(!robots.allows(&foo_bot, b"/cart/1"));
    assert!(robots.allows(&foo_bot, b"https://shop.example/cart/help"));
    assert!(!robots.allows(&gpt_bot, b"/shoes"));

    let why: Explanation = explain(
        robots.parsed(),
        &foo_bot,
        AgentMatch::Extended,
        b"/cart/help/refunds",
    );
    let rule = why.deciding.expect("a rule matches");
    assert_eq!(
        (why.verdict, rule.line, rule.text.as_str()),
        (Verdict::Allowed, 3, "Allow: /cart/help")
    );
    println!(
        "{}: {} by line {}: {}",
        why.path,
        why.verdict.name(),
        rule.line,
        rule.text
    );
    Ok(())
}
