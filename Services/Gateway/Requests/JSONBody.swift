import HTTPServer
import JSON

/// Reads the body of a request as a JSON object, or says what is wrong with it.
enum JSONBody {
    /// Checks type and size, then reads. `limit` is in bytes.
    static func read(_ request: HTTPRequest, limit: Int) throws(Problem) -> JSONObject {
        guard isJSON(request.headerValues("Content-Type")) else { throw Problem(.unsupportedMediaType) }
        guard request.body.count <= limit else { throw Problem.tooLarge(limit: limit) }
        do throws(JSONError) {
            // A body has a handful of members; unknown ones may be there, but not by the thousand.
            return try JSONReader.parseObject(
                request.body,
                limits: JSONLimits(maximumBytes: limit, maximumDepth: 16, maximumKeys: 64, maximumValues: 256)
            )
        } catch {
            let place = error.offset.map { " at byte \($0)" } ?? ""
            throw Problem.malformed(
                "", reason: error.code, detail: "The body is not one acceptable JSON object\(place).")
        }
    }

    /// One Content-Type field, `application/json`, with no charset but UTF-8 (RFC 8259 §8.1 knows no other).
    static func isJSON(_ values: [String]) -> Bool {
        guard values.count == 1, let value = values.first else { return false }
        let parts = value.lowercased().split(separator: ";", omittingEmptySubsequences: false).map {
            PlainText.trimmed(String($0))
        }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { parameter in
            !parameter.hasPrefix("charset=") || ["charset=utf-8", "charset=\"utf-8\""].contains(parameter)
        }
    }

    /// Reads members with `body` and turns what is wrong into a problem that names the member.
    static func members<Result>(_ body: () throws(JSONError) -> Result) throws(Problem) -> Result {
        do throws(JSONError) { return try body() } catch { throw Problem(error) }
    }
}

extension Problem {
    /// A member is missing or not what it must be.
    init(_ error: JSONError) {
        let sentence =
            switch error.kind {
            case .missing: "The member `\(error.path)` is required."
            case .wrongType: "The member `\(error.path)` has the wrong type."
            case .notAnInteger: "The member `\(error.path)` must be a whole number of 64 bits."
            case .outOfRange: "The member `\(error.path)` is out of its range."
            default: "The member `\(error.path)` cannot be read."
            }
        self = .malformed(error.path, reason: error.code, detail: sentence)
    }
}

extension JSONObject {
    /// A required text of 1…`longest` bytes without control characters.
    func plainText(_ key: String, longest: Int) throws(JSONError) -> String {
        let text = try string(key)
        guard PlainText.isUsable(text, longest: longest) else { throw JSONError(.outOfRange, path: key) }
        return text
    }
}
