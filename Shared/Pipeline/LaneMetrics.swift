import Messages
import Observability

/// What a lane counts. Labels: `queue`, and `outcome` where it matters.
struct LaneMetrics: Sendable {
    let deliveries: Counter
    let redeliveries: Counter
    let batchSize: Histogram
    let batchSeconds: Histogram
    let commitSeconds: Histogram
    let handlerSeconds: Histogram
    let done: Counter
    let retried: Counter
    let parked: Counter
    let reconnects: Counter
    let waits: Counter
    let unroutable: Counter
    let swept: Counter
    let unannouncedAge: Gauge
    let ready: Gauge
    private let metrics: Metrics

    /// Facts published, by type: what the business did. A closed set, the types this service may say.
    func facts(_ type: MessageType) -> Counter {
        metrics.counter(
            "purser_facts_published_total", help: "Facts published, copies included.",
            labels: ["type": type.rawValue])
    }

    init(_ metrics: Metrics, queue: String) {
        self.metrics = metrics
        let labels = ["queue": queue]
        func outcome(_ name: String) -> Counter {
            metrics.counter(
                "purser_lane_outcomes_total", help: "Messages by what became of them.",
                labels: ["queue": queue, "outcome": name])
        }
        deliveries = metrics.counter("purser_lane_deliveries_total", help: "Messages taken.", labels: labels)
        redeliveries = metrics.counter(
            "purser_lane_redeliveries_total", help: "Messages taken that were delivered before.", labels: labels)
        batchSize = metrics.histogram(
            "purser_lane_batch_messages", help: "Messages a transaction.", buckets: Histogram.batchSizes,
            labels: labels)
        batchSeconds = metrics.histogram(
            "purser_lane_batch_seconds", help: "From taking a batch to acknowledging it.",
            buckets: Histogram.latencySeconds, labels: labels)
        commitSeconds = metrics.histogram(
            "purser_lane_commit_seconds", help: "From beginning to committing a batch's transaction.",
            buckets: Histogram.latencySeconds, labels: labels)
        handlerSeconds = metrics.histogram(
            "purser_lane_handler_seconds",
            help: "The handler's part of that: load and decide; what it saves travels with the commit.",
            buckets: Histogram.latencySeconds, labels: labels)
        done = outcome("done")
        retried = outcome("retried")
        parked = outcome("parked")
        reconnects = metrics.counter(
            "purser_lane_reconnects_total", help: "Times the lane lost a connection and began anew.", labels: labels)
        waits = metrics.counter(
            "purser_lane_database_waits_total", help: "Times a batch waited for the database.", labels: labels)
        unroutable = metrics.counter(
            "purser_lane_unroutable_total", help: "Mandatory messages that no queue takes: a binding is missing.",
            labels: labels)
        swept = metrics.counter(
            "purser_lane_swept_facts_total", help: "Facts published by the sweep because nobody else had.",
            labels: labels)
        unannouncedAge = metrics.gauge(
            "purser_lane_unannounced_age_seconds",
            help: "Age of the oldest batch that was committed and not announced, at the sweep's last look.",
            labels: labels)
        ready = metrics.gauge("purser_lane_ready", help: "1 while the lane works.", labels: labels)
    }
}
