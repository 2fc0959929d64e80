//! Canonicalisation: parses the bytes of a URL into its origin.

use criterion::{Criterion, Throughput, criterion_group};
use robosieve::Origin;
use std::hint::black_box;

fn origins(c: &mut Criterion) {
    let kinds = [
        (
            "plain",
            "https://www.site.example/a/path/of/some/length?and=query",
            "https://www.site.example",
        ),
        (
            "upper case and port",
            "HTTPS://WWW.Site.Example:443/a",
            "https://www.site.example",
        ),
        (
            "user and IDN",
            "http://user@www.m\u{fc}ller.example/a",
            "http://www.xn--mller-kva.example",
        ),
        (
            "IPv6",
            "http://[2001:DB8::1]:8080/a",
            "http://[2001:db8::1]:8080",
        ),
    ];
    let mut group = c.benchmark_group("url");
    group.throughput(Throughput::Elements(1));
    for (name, url, expected) in kinds {
        group.bench_function(name, |b| {
            b.iter(|| {
                let origin = Origin::of(black_box(url.as_bytes()));
                assert!(origin.is_some_and(|origin| origin.as_str() == expected));
            });
        });
    }
}

criterion_group!(benches, origins);
