//! Times each stage of the build script, and other searches for magics.

#[path = "schemes/search.rs"]
mod search;

use criterion::{Criterion, criterion_group, criterion_main};
use kiln_gen::layout::Packing;
use kiln_gen::network::{Asset, material};
use kiln_gen::{cuckoo, geometry, magic, reductions, zobrist};
use std::num::NonZeroU16;
use std::time::Duration;

fn stages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generator");
    group.sample_size(20).measurement_time(Duration::from_secs(3));

    let tables = magic::search(1);
    group.bench_function("magic search", |bencher| bencher.iter(|| magic::search(1)));
    for (name, find) in [("sparse random", search::sparse as fn(u64) -> _), ("fixed shift", search::fixed_shift)] {
        let tables: magic::MagicTables = find(1);
        assert_eq!(magic::verify(&tables), Ok(()));
        println!("{name}: {} entries", tables.attacks.len());
        group.bench_function(format!("magic search, {name}"), |bencher| bencher.iter(|| find(1)));
    }
    group.bench_function("magic verify", |bencher| bencher.iter(|| magic::verify(&tables)));
    group.bench_function("pseudo_attacks", |bencher| bencher.iter(geometry::pseudo_attacks));
    group.bench_function("lines", |bencher| bencher.iter(geometry::lines));
    group.bench_function("superpiece", |bencher| bencher.iter(geometry::superpiece));

    let keys = zobrist::zobrist(2);
    group.bench_function("zobrist", |bencher| bencher.iter(|| zobrist::zobrist(2)));
    group.bench_function("cuckoo", |bencher| bencher.iter(|| cuckoo::cuckoo(&keys)));
    // Any base and divisor take the same time.
    let divisor = NonZeroU16::new(2600).expect("not zero");
    group.bench_function("reductions", |bencher| bencher.iter(|| reductions::reductions(1014, divisor)));

    let file = material().to_bytes();
    group.bench_function("network decode and arrange", |bencher| {
        bencher.iter(|| Asset::from_bytes(&file).map(|asset| asset.arrange(Packing::PLAIN)))
    });
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
