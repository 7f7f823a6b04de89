import Testing

@testable import Observability

/// Lines as text, and the events of purchases under their agreed names.
@Suite struct LogFormatTests {
    private let collector = LineCollector()

    private func logger(_ format: LogFormat, level: LogLevel = .info) -> Logger {
        let collector = collector
        return Logger(
            service: "purser-test", level: level, format: format, write: { collector.append($0) },
            now: { 1_796_029_507_042 })
    }

    @Test func `as text a line is its time, level, service, message and sorted fields`() {
        logger(.text).with(["queue": "a"]).warning("told", ["batch.size": .int(3), "commit.ms": 1.5])
        #expect(
            collector.text
                == "2026-11-30T09:05:07.042Z warning purser-test: told | batch.size=3 | commit.ms=1.5 | queue=a\n")
    }

    static let events: [(PurchaseEvent, [String: LogValue], String)] = [
        (
            .verifyRequest, ["user.id": "u-1", "product.id": "gem_1", "correlation.id": "c-1"],
            "[IAP] VerifyRequest | userId=u-1 | productId=gem_1 | timestamp=2026-11-30T09:05:07.042Z | correlationId=c-1\n"
        ),
        (
            .verifyResult, ["user.id": "u-1", "status": "GRANTED", "latency.ms": 12.5],
            "[IAP] VerifyResult | userId=u-1 | status=GRANTED | latencyMs=12.5 | timestamp=2026-11-30T09:05:07.042Z\n"
        ),
        (
            .verifyError, ["user.id": "u-1", "status": .int(21_007), "retry": "sandbox"],
            "[IAP] VerifyError | userId=u-1 | status=21007 | retry=sandbox | timestamp=2026-11-30T09:05:07.042Z\n"
        ),
        (
            .refund, ["customer.id": "c", "transaction.id": "2000", "amount": .int(60), "asset": "GEM"],
            "[IAP] Refund | customerId=c | transactionId=2000 | amount=60 | asset=GEM | timestamp=2026-11-30T09:05:07.042Z\n"
        ),
        (
            .duplicateRequest, ["user.id": "u-1", "transaction.id": "2000"],
            "[IAP] DuplicateRequest | userId=u-1 | transactionId=2000 | timestamp=2026-11-30T09:05:07.042Z\n"
        ),
    ]

    @Test(arguments: events) func `as text an event of a purchase is written as document C shows it (C-110…C-114)`(
        _ event: PurchaseEvent, _ fields: [String: LogValue], _ line: String
    ) {
        logger(.text).purchase(event, fields)
        #expect(collector.text == line)
    }

    @Test func `as JSON an event is a line like every other, with the event as its message`() {
        logger(.json).with(["app": "a"]).purchase(.refund, ["amount": .int(60)])
        #expect(
            collector.text
                == #"{"time":"2026-11-30T09:05:07.042Z","level":"info","service":"purser-test","message":"Refund","#
                + #""amount":60,"app":"a"}"# + "\n")
        logger(.json, level: .warning).purchase(.refund)
        #expect(collector.lines.count == 1)
    }

    @Test(arguments: [
        ("a | userId=mallory", #""a | userId=mallory""#), ("a=b", #""a=b""#), ("", #""""#),
        ("two words", #""two words""#),
        ("line\n[IAP] Refund", #""line\n[IAP] Refund""#), ("\u{1B}[31m", #""\u001b[31m""#), ("quote\"", #""quote\"""#),
        ("grüße", #""grüße""#), ("plain-1", "plain-1"),
    ])
    func `a value cannot be taken for another field or line`(_ text: String, _ written: String) {
        logger(.text).info("told", ["text": .string(text)])
        #expect(collector.text == "2026-11-30T09:05:07.042Z info purser-test: told | text=\(written)\n")
    }

    @Test func `as text long values are cut too`() {
        logger(.text).info("told", ["text": .string(String(repeating: "x", count: 100_000))])
        #expect(collector.text.utf8.count < Logger.maximumTextBytes + 300)
    }
}
