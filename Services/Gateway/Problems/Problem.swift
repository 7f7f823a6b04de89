import HTTPServer
import JSON

/// An answer that is no success, written as problem details (RFC 9457).
struct Problem: Error, Sendable, Equatable {
    /// What it is.
    var code: ProblemCode
    /// More precise than the catalogue's advice; free of internals and of what the client sent.
    var detail: String?
    /// Members of this problem type, such as `field`.
    var members = JSONObject()
    /// Header fields, such as `Allow`.
    var headers: [Header] = []
    /// Seconds until asking again makes sense, where it is known better than the catalogue knows it.
    var retryAfterSeconds: Int?
    /// Whether the StoreKit transaction may be finished. Nil on answers that are about no purchase.
    var mayFinish: Bool?

    /// A header field.
    struct Header: Sendable, Equatable {
        /// Its name.
        let name: String
        /// Its value.
        let value: String
    }

    /// A problem as the catalogue has it, or with a more precise `detail`.
    init(_ code: ProblemCode, detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    /// The request cannot be read: `field` is the path of the member or the name of the parameter (empty for the whole
    /// body), `reason` a stable code.
    static func malformed(_ field: String, reason: String, detail: String) -> Problem {
        var problem = Problem(.malformedRequest, detail: detail)
        if !field.isEmpty { problem.members.set("field", .string(field)) }
        problem.members.set("reason", .string(reason))
        return problem
    }

    /// Seconds until asking again makes sense, if it ever does.
    private var secondsUntilRetry: Int? { retryAfterSeconds ?? ProblemCatalog.entry(for: code).retryAfterSeconds }

    /// The body. `requestID` is a UUID text and becomes `instance` and `requestId`.
    func body(requestID: String) -> JSONObject {
        let entry = ProblemCatalog.entry(for: code)
        var body: JSONObject = [
            "type": .string(code.typeReference), "title": .string(entry.title),
            "status": .integer(Int64(entry.status)), "detail": .string(detail ?? entry.advice),
            "instance": .string("urn:uuid:" + requestID), "code": .string(code.rawValue),
            "requestId": .string(requestID),
        ]
        if let mayFinish { body.set("mayFinish", .bool(mayFinish)) }
        if let seconds = secondsUntilRetry { body.set("retryAfterSeconds", .integer(Int64(seconds))) }
        for (name, value) in members.members { body.set(name, value) }
        return body
    }

    /// The HTTP answer with that body.
    func response(requestID: String) -> HTTPResponse {
        var fields = [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
        if let seconds = secondsUntilRetry { fields.append(("Retry-After", String(seconds))) }
        fields += headers.map { ($0.name, $0.value) }
        fields.append(("X-Request-Id", requestID))
        return HTTPResponse(
            status: ProblemCatalog.entry(for: code).status, headers: fields,
            body: JSONWriter.write(body(requestID: requestID)))
    }
}
