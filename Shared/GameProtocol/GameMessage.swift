import CGameProtocol

/// What a game and Purser say to each other over a WebSocket: an id of two bytes, then protobuf (`iap.proto`).
public enum GameMessage: Sendable, Equatable {
    /// A purchase to be verified and delivered (50).
    case verify(VerifyQuestion)
    /// What became of it (51).
    case verified(VerifyAnswer)
    /// The question for the user's purchases (52).
    case history(HistoryQuestion)
    /// A page of them (53).
    case records(HistoryAnswer)

    /// The ids in front of messages, as `iap.proto` has them.
    public enum ID: UInt16, Sendable, CaseIterable {
        /// `C2S_IAPVerify`.
        case verify = 50
        /// `S2C_IAPVerify`.
        case verified = 51
        /// `C2S_IAPHistory`.
        case history = 52
        /// `S2C_IAPHistory`.
        case records = 53
    }

    /// Which message it is.
    public var id: ID {
        switch self {
        case .verify: .verify
        case .verified: .verified
        case .history: .history
        case .records: .records
        }
    }

    /// Reads one message; fields nobody knows are passed over.
    public init(_ bytes: [UInt8]) throws(GameMessageError) {
        guard bytes.count >= 2 else { throw .tooShort }
        let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        guard let id = ID(rawValue: number) else { throw .unknownID(number) }
        let body = bytes[2...]
        try WireScan.check(body)
        switch id {
        case .verify: self = .verify(try VerifyQuestion(body))
        case .verified: self = .verified(try VerifyAnswer(body))
        case .history: self = .history(try HistoryQuestion(body))
        case .records: self = .records(try HistoryAnswer(body))
        }
    }

    /// The bytes of the message.
    public func encoded() -> [UInt8] {
        let body: [UInt8] =
            switch self {
            case .verify(let question): question.encoded()
            case .verified(let answer): answer.encoded()
            case .history(let question): question.encoded()
            case .records(let answer): answer.encoded()
            }
        return [UInt8(id.rawValue >> 8), UInt8(id.rawValue & 0xFF)] + body
    }
}

/// Why bytes are no message of the game's protocol.
public enum GameMessageError: Error, Sendable, Equatable {
    /// Not even an id.
    case tooShort
    /// Another id than the four.
    case unknownID(UInt16)
    /// Not protobuf, or not that message.
    case malformed
    /// More fields than any message has.
    case tooManyFields

    /// A stable dotted name.
    public var code: String {
        switch self {
        case .tooShort: "game.too_short"
        case .unknownID: "game.unknown_id"
        case .malformed: "game.malformed"
        case .tooManyFields: "game.too_many_fields"
        }
    }

    /// The same bytes stay wrong.
    public var isRetryable: Bool { false }
}
