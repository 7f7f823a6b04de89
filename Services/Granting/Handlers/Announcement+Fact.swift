import Messages
import Pipeline

extension Announcement {
    /// The fact caused by a message.
    func fact(causedBy header: MessageHeader, app: AppID, at now: Int64) throws -> Fact {
        switch body {
        case .granted(var message):
            message.isVerified = header.type == .purchaseVerified
            return try fact(message, header, app, now)
        case .held(let message): return try fact(message, header, app, now)
        case .noted(let message): return try fact(message, header, app, now)
        case .frozen(let message): return try fact(message, header, app, now)
        case .clawedBack(let message): return try fact(message, header, app, now)
        case .debtRepaid(let message): return try fact(message, header, app, now)
        case .riskFlagged(let message): return try fact(message, header, app, now)
        case .orderCreated(let message): return try fact(message, header, app, now)
        case .tokenIssued(let message): return try fact(message, header, app, now)
        case .spendDecided(let message): return try fact(message, header, app, now)
        case .consentChanged(let message): return try fact(message, header, app, now)
        case .swept(let message): return try fact(message, header, app, now)
        }
    }

    private func fact(_ message: some Message, _ header: MessageHeader, _ app: AppID, _ now: Int64) throws -> Fact {
        try Fact(
            message, key: key, revision: revision, app: app, environment: environment, causedBy: header, occurredAt: now
        )
    }
}

extension Incoming {
    /// An answer, made only if somebody waits.
    func reply(_ answer: (some Message)?) throws -> Reply? {
        guard header.replyTo != nil, let answer else { return nil }
        return try Reply(answer)
    }
}
