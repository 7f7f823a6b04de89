import Dispatch
import Observability
import Testing

@Suite struct MetricsTests {
    @Test func `everything is rendered as Prometheus text 0 0 4`() {
        let metrics = Metrics()
        let granted = metrics.counter(
            "purser_messages_total", help: "Messages handled.", labels: ["queue": "granting.purchases", "kind": "a"])
        granted.increment()
        granted.increment(by: 41)
        metrics.counter("purser_messages_total", help: "ignored", labels: ["queue": "b\"\\\nc"]).increment()
        metrics.gauge("purser_depth", help: "How deep\\ it is.\nReally.").set(2.5)
        metrics.gauge("purser_age_seconds", help: "Age.", read: { 7 })
        let latency = metrics.histogram("purser_commit_seconds", help: "Commit.", buckets: [0.1, 0.01, 1])
        latency.observe(0.01)
        latency.observe(.milliseconds(50))
        latency.observe(3)
        let expected = #"""
            # HELP purser_age_seconds Age.
            # TYPE purser_age_seconds gauge
            purser_age_seconds 7
            # HELP purser_commit_seconds Commit.
            # TYPE purser_commit_seconds histogram
            purser_commit_seconds_bucket{le="0.01"} 1
            purser_commit_seconds_bucket{le="0.1"} 2
            purser_commit_seconds_bucket{le="1"} 2
            purser_commit_seconds_bucket{le="+Inf"} 3
            purser_commit_seconds_sum 3.06
            purser_commit_seconds_count 3
            # HELP purser_depth How deep\\ it is.\nReally.
            # TYPE purser_depth gauge
            purser_depth 2.5
            # HELP purser_messages_total Messages handled.
            # TYPE purser_messages_total counter
            purser_messages_total{kind="a",queue="granting.purchases"} 42
            purser_messages_total{queue="b\"\\\nc"} 1

            """#
        #expect(metrics.render() == expected)
    }

    @Test func `the same name and labels give the same instrument`() {
        let metrics = Metrics()
        metrics.counter("c_total", help: "", labels: ["a": "1", "b": "2"]).increment()
        metrics.counter("c_total", help: "", labels: ["b": "2", "a": "1"]).increment()
        #expect(metrics.counter("c_total", help: "", labels: ["a": "1", "b": "2"]).value == 2)
        #expect(metrics.counter("c_total", help: "", labels: ["a": "1"]).value == 0)
    }

    @Test func `a counter never falls`() {
        let counter = Metrics().counter("c_total", help: "")
        counter.increment(by: 5)
        counter.increment(by: -3)
        #expect(counter.value == 5)
    }

    @Test func `a name used for two kinds is shown as a conflict and harms nothing`() {
        let metrics = Metrics()
        metrics.counter("x", help: "").increment()
        metrics.gauge("x", help: "").set(9)
        #expect(metrics.render().contains("\nx 1\n"))
        #expect(metrics.render().contains("metrics_registration_conflicts_total 1\n"))
    }

    @Test func `too many label sets share one series`() {
        let metrics = Metrics()
        for index in 0..<(Metrics.maximumSeries + 10) {
            metrics.counter("c_total", help: "", labels: ["id": "\(index)"]).increment()
        }
        #expect(metrics.render().contains("c_total{overflow=\"true\"} 10\n"))
    }

    @Test func `not a number is not observed and infinity is written as Prometheus spells it`() {
        let metrics = Metrics()
        let histogram = metrics.histogram("h", help: "", buckets: [1])
        histogram.observe(.nan)
        #expect(histogram.count == 0)
        metrics.gauge("g", help: "").set(-.infinity)
        #expect(metrics.render().contains("g -Inf\n"))
    }

    @Test func `no increment is lost between threads`() {
        let metrics = Metrics()
        let counter = metrics.counter("c_total", help: "")
        let gauge = metrics.gauge("g", help: "")
        let histogram = metrics.histogram("h", help: "", buckets: [1])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<1_000 {
                counter.increment()
                gauge.add(1)
                histogram.observe(0.5)
            }
        }
        #expect(counter.value == 8_000)
        #expect(gauge.value == 8_000)
        #expect(histogram.count == 8_000)
    }
}
