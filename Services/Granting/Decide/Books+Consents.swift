import Messages

/// A word of a customer about consent to telling Apple how much of a purchase they used. Kept for ever; the newest is in
/// force.
struct Consent: Sendable, Equatable {
    /// Whose.
    var customer: CustomerID
    /// Which of their words it is, from 1.
    var revision: Int64
    /// Given or withdrawn.
    var isGiven: Bool
    /// What it was given to.
    var termsVersion: String?
    /// When they said it (ms since 1970).
    var requestedAt: Int64
    /// The message that said it.
    var cause: MessageID
}

/// Consent: given, withdrawn, and never given by a message that comes again after it was withdrawn.
extension Books {
    /// Puts a word on record if it changes anything; answers with what is in force.
    mutating func decide(_ word: ConsentCase) -> ConsentDecision {
        let current = consents[word.customer]
        // An asker's clock that runs ahead must not outlast later words.
        let at = min(word.requestedAt, now)
        guard !consentCauses.contains(word.cause), Self.changes(current, word.request, at) else {
            return ConsentDecision(answer: answer(current))
        }
        let consent = Consent(
            customer: word.customer, revision: (current?.revision ?? 0) + 1, isGiven: word.request.isGiven,
            termsVersion: word.request.isGiven ? word.request.termsVersion : nil,
            requestedAt: max(at, current?.requestedAt ?? at), cause: word.cause)
        consents[word.customer] = consent
        consentCauses.insert(word.cause)
        changes.consents.append(consent)
        let body = ConsentChanged(
            customer: consent.customer, revision: consent.revision, isGiven: consent.isGiven,
            termsVersion: consent.termsVersion, requestedAt: consent.requestedAt,
            userDigest: customers[consent.customer]?.digest)
        let fact = Announcement(
            body: .consentChanged(body), key: consent.customer.rawValue, revision: consent.revision)
        return ConsentDecision(answer: answer(consent), announcements: [fact])
    }

    /// Giving needs a word that is newer than the last one: a repeated message, overtaken by a withdrawal, gives nothing.
    /// Withdrawing always counts, also where nothing is given: what was given before it may come after it. In doubt there
    /// is no consent.
    private static func changes(_ current: Consent?, _ request: ConsentChangeRequested, _ at: Int64) -> Bool {
        guard let current else { return true }
        guard request.isGiven else { return current.isGiven || at > current.requestedAt }
        let isNew = !current.isGiven || request.termsVersion != current.termsVersion
        return isNew && at > current.requestedAt
    }

    private func answer(_ consent: Consent?) -> ConsentAnswered {
        ConsentAnswered(
            isGiven: consent?.isGiven ?? false, termsVersion: consent?.termsVersion, changedAt: consent?.requestedAt)
    }
}
