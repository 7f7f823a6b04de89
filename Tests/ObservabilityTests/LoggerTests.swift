import FoundationEssentials
import Testing

@testable import Observability

@Suite struct LoggerTests {
    private let collector = LineCollector()

    private func logger(level: LogLevel = .debug) -> Logger {
        let collector = collector
        return Logger(
            service: "purser-test", level: level, write: { collector.append($0) }, now: { 1_796_029_507_042 })
    }

    @Test func `a line is one JSON object with time, level, service, message and sorted fields`() {
        logger().info(
            "purchase granted",
            [
                "message.id": .string("m-1"), "batch.size": .int(3), "ratio": 0.5, "first": true,
                "commit.ms": .duration(.microseconds(1_500)),
            ])
        let expected =
            #"{"time":"2026-11-30T09:05:07.042Z","level":"info","service":"purser-test","message":"purchase granted","#
            + #""batch.size":3,"commit.ms":1.5,"first":true,"message.id":"m-1","ratio":0.5}"# + "\n"
        #expect(collector.text == expected)
    }

    @Test(arguments: [
        ("quote\" back\\", #"quote\" back\\"#),
        ("line\r\n\ttab", #"line\r\n\ttab"#),
        ("\u{0}\u{1B}[31m\u{7F}", #"\u0000\u001b[31m\u007f"#),
        ("\u{9B}31m\u{2028}\u{2029}", #"\u009b31m\u2028\u2029"#),
        ("grüße 💰", "grüße 💰"),
    ])
    func `control characters cannot break a line or drive a terminal`(text: String, expected: String) throws {
        logger().warning("told", ["text": .string(text)])
        #expect(collector.text.contains(#""text":"\#(expected)"}"#))
        #expect(collector.text.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        let parsed = try JSONDecoder().decode(TextLine.self, from: Data(collector.text.utf8))
        #expect(parsed.text == text)
    }

    private struct TextLine: Decodable { let text: String }

    @Test func `a key is escaped as well`() {
        logger().info("told", ["a\"b\n": 1])
        #expect(collector.text.contains(#""a\"b\n":1"#))
    }

    @Test func `a field cannot replace what every line has`() {
        logger().info("told", ["level": "error", "message": "forged"])
        #expect(collector.text.contains(#""level":"info""#))
        #expect(collector.text.contains(#""field.level":"error","field.message":"forged""#))
    }

    @Test func `text is cut at its limit`() {
        logger().info("told", ["text": .string(String(repeating: "ä", count: 100_000))])
        #expect(collector.text.utf8.count < Logger.maximumTextBytes + 300)
        #expect(collector.text.contains("ä…\""))
    }

    @Test func `levels below the chosen one are neither built nor written`() {
        var evaluations = 0
        func fields() -> [String: LogValue] {
            evaluations += 1
            return [:]
        }
        let logger = logger(level: .warning)
        logger.debug("a", fields())
        logger.info("b", fields())
        logger.warning("c", fields())
        logger.error("d", fields())
        #expect(evaluations == 2)
        #expect(collector.lines.count == 2)
    }

    @Test func `a derived logger adds its fields and the newest value wins`() {
        let derived = logger().with(["correlation.id": "c-1", "queue": "a"]).with(["queue": "b"])
        derived.info("told", ["more": 1])
        #expect(collector.text.contains(#""correlation.id":"c-1","more":1,"queue":"b"}"#))
        logger().info("told")
        #expect(!collector.lines[1].contains("correlation"))
    }

    @Test func `numbers JSON cannot say are written as text`() {
        logger().info("told", ["a": .double(.nan), "b": .double(-.infinity)])
        #expect(collector.text.contains(#""a":"nan","b":"-inf""#))
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    ])
    func `times are RFC 3339 in UTC with milliseconds`(milliseconds: Int64, expected: String) {
        #expect(Timestamp.format(millisecondsSince1970: milliseconds) == expected)
    }
}
