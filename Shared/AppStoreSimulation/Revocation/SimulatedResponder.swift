import AppStore
public import Crypto
public import JSON
import Synchronization

/// Apple's answer to "is this certificate revoked?", in every way it can go wrong. Any thread.
public final class SimulatedResponder: Sendable {
    /// How it answers.
    public enum Mode: String, Sendable, CaseIterable {
        /// Not revoked.
        case good
        /// Revoked.
        case revoked
        /// Never heard of it.
        case unknown
        /// Good, but long ago.
        case stale
        /// Good, says somebody whom nobody has certified for it.
        case wrongResponder
        /// Not at all: HTTP status 503.
        case unreachable
        /// Good, after a while.
        case slow
    }

    /// How it answers about one certificate.
    public struct Behaviour: Sendable, Equatable {
        /// In which way.
        public var mode: Mode
        /// Since when it is revoked (seconds since 1970).
        public var revokedAt: Int64
        /// Why, by RFC 5280 §5.3.1; nil says nothing.
        public var reason: Int?
        /// How slow it is.
        public var milliseconds: Int64
        /// How long an answer counts (seconds).
        public var lifetime: Int64

        /// Twelve hours, as Apple's answers count.
        public static let usualLifetime: Int64 = 43_200

        /// Describes it.
        public init(
            _ mode: Mode = .good, revokedAt: Int64 = 0, reason: Int? = nil, milliseconds: Int64 = 10_000,
            lifetime: Int64 = Self.usualLifetime
        ) {
            self.mode = mode
            self.revokedAt = revokedAt
            self.reason = reason
            self.milliseconds = milliseconds
            self.lifetime = lifetime
        }
    }

    /// What goes back.
    public enum Answer: Sendable, Equatable {
        /// The bytes of an answer, after so many milliseconds.
        case answer([UInt8], afterMilliseconds: Int64)
        /// Nothing of use.
        case unreachable
    }

    private struct State {
        var behaviours: [SimulatedAuthority.Storey: Behaviour] = [:]
        var asked = 0
    }

    private let authority: SimulatedAuthority
    private let stranger: SimulatedAuthority.Responder?
    private let state = Mutex(State())

    /// Answers for an authority that has responders; refuses every question if it has none.
    public init(_ authority: SimulatedAuthority) throws(CryptoError) {
        self.authority = authority
        stranger = authority.responders == nil ? nil : try .stranger()
    }

    /// How often it was asked.
    public var timesAsked: Int { state.withLock { $0.asked } }

    /// Answers about leaf or intermediate this way from now on.
    public func set(_ behaviour: Behaviour, for storey: SimulatedAuthority.Storey = .leaf) {
        state.withLock { $0.behaviours[storey] = behaviour }
    }

    /// The same by the body of `POST /simulator/ocsp`; `now` is in seconds since 1970.
    public func set(_ body: JSONObject, now: Int64) throws(StoreError) -> JSONObject {
        do throws(JSONError) {
            guard let mode = Mode(rawValue: try body.string("mode")) else { throw JSONError(.outOfRange, path: "mode") }
            guard let storey = SimulatedAuthority.Storey(rawValue: try body.optionalString("certificate") ?? "leaf"),
                storey != .root
            else { throw JSONError(.outOfRange, path: "certificate") }
            let behaviour = Behaviour(
                mode, revokedAt: try body.optionalInt64("revokedAt") ?? now,
                reason: try body.optionalInt64("reason", in: 0...10).map { Int($0) },
                milliseconds: try body.optionalInt64("milliseconds", in: 0...600_000) ?? 10_000,
                lifetime: try body.optionalInt64("lifetimeSeconds", in: 1...31_536_000) ?? Behaviour.usualLifetime)
            set(behaviour, for: storey)
            return ["mode": .string(mode.rawValue), "certificate": .string(storey.rawValue)]
        } catch {
            throw .invalid(field: error.path, problem: "is missing or wrong (\(error.code))")
        }
    }

    /// The answer to a question at `now` (seconds since 1970).
    public func answer(_ request: [UInt8], now: Int64) -> Answer {
        guard let question = try? OCSPRequest(der: request), let responders = authority.responders, let stranger else {
            return Self.refusal(status: 1)
        }
        let storey: SimulatedAuthority.Storey
        if question.isAbout(authority.leaf, issuedBy: authority.intermediate) {
            storey = .leaf
        } else if question.isAbout(authority.intermediate, issuedBy: authority.root) {
            storey = .intermediate
        } else {
            return Self.refusal(status: 6)
        }
        let behaviour = state.withLock { state in
            state.asked += 1
            return state.behaviours[storey] ?? Behaviour()
        }
        guard behaviour.mode != .unreachable else { return .unreachable }
        let isLeaf = storey == .leaf
        let responder =
            behaviour.mode == .wrongResponder ? stranger : isLeaf ? responders.leaf : responders.intermediate
        let age = behaviour.mode == .stale ? 2 * behaviour.lifetime + 600 : 0
        var builder = OCSPResponseBuilder(
            status: behaviour.status, thisUpdate: now - age, nextUpdate: now - age + behaviour.lifetime,
            certificates: [responder.certificate])
        builder.request = question
        let answer = try? builder.signed(
            by: .p256(responder.key), as: responder.certificate,
            about: isLeaf ? authority.leaf : authority.intermediate,
            of: isLeaf ? authority.intermediate : authority.root)
        guard let answer else { return Self.refusal(status: 2) }
        return .answer(answer, afterMilliseconds: behaviour.mode == .slow ? behaviour.milliseconds : 0)
    }

    private static func refusal(status: Int) -> Answer {
        (try? OCSPResponseBuilder.refusal(status: status)).map { .answer($0, afterMilliseconds: 0) } ?? .unreachable
    }
}

extension SimulatedResponder.Behaviour {
    /// What an answer says.
    fileprivate var status: OCSPAnswer.Status {
        switch mode {
        case .revoked: .revoked(at: revokedAt, reason: reason.map { RevocationReason(rawValue: $0) })
        case .unknown: .unknown
        default: .good
        }
    }
}
