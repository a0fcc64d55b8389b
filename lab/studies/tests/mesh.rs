//! Nodes on a mesh, each simulated alone: no bound is beaten, whichever way links are shared.

use tactus_studies::mesh::{Network, Shape, Sharing};
use tactus_time::Duration;

#[test]
fn nodes_simulated_alone_keep_their_promises_and_messages_come_within_their_bounds() {
    for sharing in [Sharing::Slots, Sharing::Rates] {
        let shape = Shape { columns: 4, rows: 4, sharing, load: 0.75, seed: 3 };
        let network = Network::new(shape).expect("the network carries it");
        assert!(network.longest.iter().zip(&network.bounds).all(|(longest, bound)| longest <= bound), "{sharing:?}");
        let run =
            |node| network.run(node, Duration::from_millis(100)).unwrap_or_else(|error| panic!("{node}: {error}"));
        let nodes: Vec<_> = (0..16).map(run).collect();
        assert!(nodes.iter().all(|node| node.held), "{sharing:?}");
        let received: Vec<_> = nodes.iter().flat_map(|node| &node.received).collect();
        assert_eq!(received.len(), 16);
        // Twenty at least in 100 ms, but for one that is under way.
        assert!(received.iter().all(|it| it.messages >= 19), "{received:?}");
        let share = |bound: Duration, longest: Duration| longest.as_secs_f64() / bound.as_secs_f64();
        let shares: Vec<f64> = received.iter().filter_map(|it| Some(share(it.bound?, it.longest))).collect();
        assert!(shares.len() > 8 && shares.iter().all(|it| *it <= 1.0), "{shares:?}");
        assert!(shares.iter().any(|it| *it > 0.8), "{shares:?}");
    }
}
