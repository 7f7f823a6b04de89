import COpenSSL

/// OpenSSL's list of errors of the calling thread.
///
/// It is drained at the call that failed, so that one failure never explains another one later.
enum OpenSSLErrorQueue {
    /// Long enough for a cause and its consequence; the rest repeats the same thing.
    private static let maximumReasons = 3

    /// Empties the queue and returns its reasons as text.
    static func drain() -> String {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { break }
            if reasons.count < maximumReasons, let text = ERR_reason_error_string(code) {
                reasons.append(String(cString: text))
            }
        }
        return reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
    }

    /// Empties the queue after a call whose failure is an ordinary answer.
    static func clear() { ERR_clear_error() }

    /// An error for the operation that just failed.
    static func failure(_ operation: String) -> CryptoError {
        .operationFailed(operation: operation, reason: drain())
    }
}
