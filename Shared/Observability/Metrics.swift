import Synchronization

/// The registry of a process's metrics, rendered for Prometheus (text format 0.0.4,
/// https://prometheus.io/docs/instrumenting/exposition_formats/).
///
/// Ask for an instrument once and keep it: the look-up takes a lock, the increments are cheap. The same name and labels
/// give the same instrument. Names are `purser_<what>_<unit>`; counters end in `_total`. Labels must come from a small
/// closed set, never from a message: beyond ``maximumSeries`` label sets of one name, further ones share the
/// series labelled `overflow="true"`.
public final class Metrics: Sendable {
    /// Most label sets of one name: far above what code written with closed sets needs, far below what hurts.
    public static let maximumSeries = 500

    private enum Instrument: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case observed(@Sendable () -> Double)
        case histogram(Histogram)

        var type: String {
            switch self {
            case .counter: "counter"
            case .gauge, .observed: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    private struct Family: Sendable {
        let help: String
        let type: String
        var series: [String: Instrument] = [:]
    }

    private let families = Mutex<[String: Family]>([:])
    private let conflicts = Counter()

    /// An empty registry.
    public init() {}

    /// The counter of this name and these labels.
    public func counter(_ name: String, help: String, labels: [String: String] = [:]) -> Counter {
        guard case .counter(let found) = register(name, help, labels, .counter(Counter())) else { return Counter() }
        return found
    }

    /// The gauge of this name and these labels.
    public func gauge(_ name: String, help: String, labels: [String: String] = [:]) -> Gauge {
        guard case .gauge(let found) = register(name, help, labels, .gauge(Gauge())) else { return Gauge() }
        return found
    }

    /// A gauge that is read when the metrics are: `read` runs on the rendering thread and must not block.
    public func gauge(
        _ name: String, help: String, labels: [String: String] = [:], read: @escaping @Sendable () -> Double
    ) {
        _ = register(name, help, labels, .observed(read))
    }

    /// The histogram of this name and these labels. The bounds of the first registration stay.
    public func histogram(
        _ name: String, help: String, buckets: [Double] = Histogram.latencySeconds, labels: [String: String] = [:]
    ) -> Histogram {
        let new = Histogram(bounds: buckets)
        guard case .histogram(let found) = register(name, help, labels, .histogram(new)) else { return new }
        return found
    }

    /// Finds or adds an instrument. A name used for two kinds is a mistake in the code that must not stop a service: the
    /// second kind gets an instrument that is not shown, and `metrics_registration_conflicts_total` shows it happened.
    private func register(
        _ name: String, _ help: String, _ labels: [String: String], _ new: Instrument
    ) -> Instrument {
        let key = PrometheusText.labels(labels)
        return families.withLock { families in
            var family = families[name] ?? Family(help: help, type: new.type)
            guard family.type == new.type else {
                conflicts.increment()
                return new
            }
            if let known = family.series[key] { return known }
            let isFull = family.series.count >= Self.maximumSeries
            let place = isFull ? PrometheusText.labels(["overflow": "true"]) : key
            let instrument = family.series[place] ?? new
            family.series[place] = instrument
            families[name] = family
            return instrument
        }
    }

    /// All metrics as Prometheus text, sorted by name and labels, ending with a newline.
    public func render() -> String {
        let snapshot = families.withLock { $0 }
        var text = PrometheusText()
        for (name, family) in snapshot.sorted(by: { $0.key < $1.key }) {
            text.header(name: name, help: family.help, type: family.type)
            for (labels, instrument) in family.series.sorted(by: { $0.key < $1.key }) {
                switch instrument {
                case .counter(let counter): text.sample(name, labels, Double(counter.value))
                case .gauge(let gauge): text.sample(name, labels, gauge.value)
                case .observed(let read): text.sample(name, labels, read())
                case .histogram(let histogram): text.histogram(name, labels, histogram)
                }
            }
        }
        if conflicts.value > 0 {
            let name = "metrics_registration_conflicts_total"
            text.header(name: name, help: "Names registered as two kinds of metric.", type: "counter")
            text.sample(name, "", Double(conflicts.value))
        }
        return text.text
    }
}
