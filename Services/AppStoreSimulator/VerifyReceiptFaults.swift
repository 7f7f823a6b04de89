import AppStoreSimulation
import JSON
import Synchronization

/// What shall go wrong with the next calls of `verifyReceipt`. Any thread.
final class VerifyReceiptFaults: Sendable {
    /// One way to fail.
    enum Mode: String, Sendable, CaseIterable {
        /// Any of Apple's numbers.
        case status
        /// The true answer, after a while.
        case slow
        /// 503.
        case unreachable
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
        /// Only at this environment's address.
        let environment: String?
        let status: Int64
        let milliseconds: Int64
    }

    private let planned = Mutex<[Fault]>([])

    /// Plans failures by the body of `POST /simulator/verify-receipt/faults`; a count of 0 forgets all that are planned.
    func plan(_ body: JSONObject) throws -> JSONObject {
        guard let mode = Mode(rawValue: try body.string("mode")) else {
            let names = Mode.allCases.map(\.rawValue).joined(separator: ", ")
            throw StoreError.invalid(field: "mode", problem: "must be one of: " + names)
        }
        let environment = try body.optionalString("environment")
        guard environment.map({ PurchaseRequest.environments.contains($0) }) ?? true else {
            throw StoreError.invalid(field: "environment", problem: "must be Production or Sandbox")
        }
        let fault = Fault(
            mode: mode, count: try body.optionalInt64("count", in: 0...1_000_000) ?? 1, environment: environment,
            status: try body.optionalInt64("status") ?? 21_005,
            // Longer than Purser waits for an answer.
            milliseconds: try body.optionalInt64("milliseconds", in: 0...600_000) ?? 10_000)
        let count = planned.withLock { planned in
            if fault.count == 0 { planned.removeAll() } else { planned.append(fault) }
            return planned.count
        }
        return ["planned": .integer(Int64(count))]
    }

    /// The failure that meets a call at the address of an environment, if any.
    func take(_ environment: String) -> Fault? {
        planned.withLock { planned in
            guard let index = planned.firstIndex(where: { $0.environment.map { $0 == environment } ?? true }) else {
                return nil
            }
            let fault = planned[index]
            planned[index].count -= 1
            if planned[index].count == 0 { planned.remove(at: index) }
            return fault
        }
    }
}
