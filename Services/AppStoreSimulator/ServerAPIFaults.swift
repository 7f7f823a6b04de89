import AppStoreSimulation
import HTTPServer
import JSON
import Synchronization

/// What shall go wrong with the next calls of the Server API. Any thread.
final class ServerAPIFaults: Sendable {
    /// One way to fail.
    enum Mode: String, Sendable, CaseIterable {
        /// 429 with the UNIX time in milliseconds when to come back.
        case rateLimited
        /// Any of Apple's error numbers.
        case error
        /// 401, without JSON.
        case unauthorized
        /// No answer for a long time.
        case timeout
        /// A success whose body ends in its middle.
        case truncated
        /// A success with a page of HTML.
        case notJSON
        /// A success without a body.
        case empty
    }

    /// A planned failure.
    struct Fault: Sendable {
        let mode: Mode
        var count: Int64
        /// Only calls whose path contains this.
        let path: String?
        let errorCode: Int64
        let milliseconds: Int64
    }

    private let planned = Mutex<[Fault]>([])

    /// Plans failures by the body of `POST /simulator/server-api/faults`; a count of 0 forgets all that are planned.
    func plan(_ body: JSONObject) throws -> JSONObject {
        guard let mode = Mode(rawValue: try body.string("mode")) else {
            let names = Mode.allCases.map(\.rawValue).joined(separator: ", ")
            throw StoreError.invalid(field: "mode", problem: "must be one of: " + names)
        }
        let fault = Fault(
            mode: mode, count: try body.optionalInt64("count", in: 0...1_000_000) ?? 1,
            path: try body.optionalString("path"),
            errorCode: try body.optionalInt64("errorCode", in: 4_000_000...5_999_999) ?? 5_000_000,
            // Longer than any client waits for an answer; short enough to be waited for after a 429.
            milliseconds: try body.optionalInt64("milliseconds", in: 0...600_000) ?? (mode == .timeout ? 60_000 : 1_000)
        )
        let count = planned.withLock { planned in
            if fault.count == 0 { planned.removeAll() } else { planned.append(fault) }
            return planned.count
        }
        return ["planned": .integer(Int64(count))]
    }

    /// The failure that meets a call, if any.
    func take(_ path: String) -> Fault? {
        planned.withLock { planned in
            guard let index = planned.firstIndex(where: { $0.path.map { path.contains($0) } ?? true }) else {
                return nil
            }
            let fault = planned[index]
            planned[index].count -= 1
            if planned[index].count == 0 { planned.remove(at: index) }
            return fault
        }
    }
}
