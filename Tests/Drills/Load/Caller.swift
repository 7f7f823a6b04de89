import HTTPClient
import JSON

/// Calls the backend over one connection, for any user. Blocking, for one thread.
struct Caller: ~Copyable {
    /// How a call went.
    enum Answer: Sendable {
        /// The body of a success.
        case success(JSONObject)
        /// To be tried again after this time.
        case later(Duration)
        /// Final; `body` is the problem's.
        case refused(status: Int, code: String, body: JSONObject)
    }

    private let base: String
    private let record: Record
    private var client: HTTPClient

    /// Longer than the gateway's own patience of 5 s, so that its answer is heard.
    private static let timeout = Duration.seconds(10)
    /// An impatient client: what the gateway asks for is cut to this, so that the load goes on.
    private static let longestPause = Duration.milliseconds(500)

    init(base: String, record: Record) throws {
        self.base = base
        self.record = record
        var configuration = HTTPClient.Configuration()
        configuration.timeout = Self.timeout
        client = try HTTPClient.open(configuration)
    }

    /// Sends `body` to `path`. Says to try again for everything that may pass by itself.
    mutating func post(_ path: String, _ body: JSONObject, token: String) -> Answer {
        let began = ContinuousClock.now
        let response: HTTPClientResponse
        do {
            response = try client.send(
                HTTPClientRequest(
                    "POST", base + path,
                    headers: [("Authorization", "Bearer " + token), ("Content-Type", "application/json")],
                    body: JSONWriter.write(body)))
        } catch {
            record.called(error.code, after: began.duration(to: .now))
            return .later(.milliseconds(100))
        }
        let object = try? JSONReader.parseObject(response.body)
        let code = object?["code"]?.stringValue ?? ""
        record.called("\(response.status) \(code)".trimmedAtEnd, after: began.duration(to: .now))
        if response.status == 200 || response.status == 201, let object { return .success(object) }
        guard [408, 429, 503].contains(response.status), code != "UNDER_REVIEW" else {
            return .refused(status: response.status, code: code, body: object ?? [:])
        }
        let seconds = response.header("Retry-After").flatMap { Int64($0) } ?? 0
        return .later(min(max(.seconds(seconds), .milliseconds(100)), Self.longestPause))
    }
}
