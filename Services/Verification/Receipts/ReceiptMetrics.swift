import Observability

/// What is counted about questions to `verifyReceipt`.
struct ReceiptMetrics: Sendable {
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        // From the start, so that alerts can watch for a rise; 21004 is the one that an operator has to end.
        for name in ["verified", "refused", "unreachable", "timeout", "unreadable", "apple_21004"] { _ = asked(name) }
    }

    /// Receipts asked about, by what became of it: a closed set, but for numbers that Apple invents.
    func asked(_ outcome: String) -> Counter {
        metrics.counter(
            "purser_verification_receipt_questions_total",
            help: "Receipts that Apple was asked about, by what became of it.", labels: ["outcome": outcome])
    }

    /// Times the other environment had to be asked.
    func hopped(to environment: String) -> Counter {
        metrics.counter(
            "purser_verification_receipt_hops_total", help: "Receipts that were the other environment's.",
            labels: ["environment": environment])
    }
}
