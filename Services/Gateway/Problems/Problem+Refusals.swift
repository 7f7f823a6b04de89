import HTTPServer
import JSON
import Pipeline

extension Problem {
    /// What the HTTP server refused before a route was known.
    init(_ failure: HTTPFailure) {
        switch failure {
        case .malformedRequest:
            self = .malformed("", reason: failure.code, detail: "The head of the HTTP request is not acceptable.")
        case .bodyTimeout: self.init(.requestTimeout)
        case .bodyTooLarge(let limit): self = .tooLarge(limit: limit)
        case .unsupportedContentEncoding: self.init(.unsupportedMediaType)
        case .headersTooLarge: self.init(ProblemCode.headersTooLarge)
        case .invalidResponse: self.init(.internalError)
        case .overloaded, .stopping:
            self.init(.serviceBusy)
            members.set("reason", .string(Limit(failure)?.rawValue ?? "stopping"))
        case .tooManyRequests: self.init(.addressRequests, retryAfter: .seconds(1))
        case .unsupportedVersion: self.init(.unsupportedHTTPVersion)
        }
    }

    /// A client ran into its own limit; `retryAfter` is rounded up to whole seconds (RFC 9110 §10.2.3 knows no parts).
    init(_ limit: Limit, retryAfter: Duration) {
        self.init(ProblemCode.tooManyRequests)
        members.set("reason", .string(limit.rawValue))
        let (seconds, rest) = retryAfter.components
        retryAfterSeconds = max(1, Int(clamping: seconds) + (rest > 0 ? 1 : 0))
    }

    /// The body, or `field` of it, is longer than `limit` bytes.
    static func tooLarge(field: String? = nil, limit: Int) -> Problem {
        var problem = Problem(
            .payloadTooLarge, detail: "\(field ?? "The body") may have at most \(limit) bytes. Send a smaller one.")
        if let field { problem.members.set("field", .string(field)) }
        problem.members.set("maximumBytes", .integer(Int64(limit)))
        return problem
    }

    /// A notification that is not known to be durable. Apple sends it again.
    init(untold error: RequestError) {
        self.init(.serviceBusy)
        members.set("reason", .string(error.code))
    }

    /// A question that got no answer. None of these lets a client finish a transaction; sending it again is safe.
    init(_ error: RequestError, isPurchase: Bool) {
        switch error {
        case .brokerUnavailable, .overloaded:
            self.init(.serviceBusy)
            members.set("reason", .string(error.code))
        case .timedOut, .unreadableAnswer: self.init(isPurchase ? .purchasePending : .serviceBusy)
        case .parked: self.init(.underReview)
        }
        mayFinish = isPurchase ? false : nil
    }
}
