import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// Consent to telling Apple how much of a purchase was used.
@Suite(.timeLimit(.minutes(2))) struct ConsentTests {
    /// A word: given or withdrawn, at a time, with a version of terms, by a message.
    private struct Word {
        var isGiven: Bool
        var at: Int64
        var terms: String?
        var cause: String
    }

    private static func give(_ at: Int64, _ cause: String, terms: String? = nil) -> Word {
        Word(isGiven: true, at: at, terms: terms, cause: cause)
    }

    private static func withdraw(_ at: Int64, _ cause: String) -> Word {
        Word(isGiven: false, at: at, terms: nil, cause: cause)
    }

    /// What words, one after the other, lead to: whether consent is in force, and how many are on record.
    private struct Story: CustomTestStringConvertible {
        let testDescription: String
        let words: [Word]
        let isGiven: Bool
        let rows: Int
    }

    private static let stories = [
        Story(testDescription: "nothing was said", words: [], isGiven: false, rows: 0),
        Story(testDescription: "given", words: [give(1, "a")], isGiven: true, rows: 1),
        Story(testDescription: "given twice", words: [give(1, "a"), give(2, "b")], isGiven: true, rows: 1),
        Story(
            testDescription: "given to other terms", words: [give(1, "a", terms: "1"), give(2, "b", terms: "2")],
            isGiven: true, rows: 2),
        Story(testDescription: "withdrawn before it was given", words: [withdraw(1, "a")], isGiven: false, rows: 1),
        Story(
            testDescription: "the withdrawal overtakes the giving message", words: [withdraw(2, "b"), give(1, "a")],
            isGiven: false, rows: 1),
        Story(testDescription: "withdrawn", words: [give(1, "a"), withdraw(2, "b")], isGiven: false, rows: 2),
        Story(
            testDescription: "withdrawn twice", words: [give(1, "a"), withdraw(2, "b"), withdraw(3, "c")],
            isGiven: false, rows: 3),
        Story(
            testDescription: "the second withdrawal overtakes the second giving message",
            words: [give(1, "a"), withdraw(2, "b"), withdraw(4, "d"), give(3, "c")], isGiven: false, rows: 3),
        Story(
            testDescription: "given again", words: [give(1, "a"), withdraw(2, "b"), give(3, "c")], isGiven: true,
            rows: 3),
        Story(
            testDescription: "the giving message comes again after the withdrawal",
            words: [give(1, "a"), withdraw(2, "b"), give(1, "a")], isGiven: false, rows: 2),
        Story(
            testDescription: "a giving message that changed nothing comes again after the withdrawal",
            words: [give(1, "a"), give(2, "b"), withdraw(3, "c"), give(2, "b")], isGiven: false, rows: 2),
        Story(
            testDescription: "the withdrawing message comes again after consent was given anew",
            words: [give(1, "a"), withdraw(2, "b"), give(3, "c"), withdraw(2, "b")], isGiven: true, rows: 3),
        Story(
            testDescription: "a withdrawal by a slow clock counts, and what was given before it stays withdrawn",
            words: [give(5, "a"), withdraw(1, "b"), give(5, "c")], isGiven: false, rows: 2),
        Story(
            testDescription: "a clock that runs ahead does not outlast a withdrawal",
            words: [give(Int64.max, "a"), withdraw(Shop.day + 1, "b")], isGiven: false, rows: 2),
        Story(
            testDescription: "at the same instant the withdrawal holds",
            words: [give(1, "a"), withdraw(1, "b"), give(1, "c")],
            isGiven: false, rows: 2),
    ]

    @Test(arguments: stories) private func `the newest word is in force, and a repeated message gives nothing (A-116)`(
        story: Story
    ) {
        var shop = Shop()
        var answer = ConsentAnswered(isGiven: false, termsVersion: nil, changedAt: nil)
        for word in story.words {
            answer =
                shop.books.decide(
                    ConsentCase(
                        cause: MessageID(word.cause), customer: Shop.alice,
                        request: ConsentChangeRequested(
                            app: Shop.app, userID: UserID("alice"), isGiven: word.isGiven, termsVersion: word.terms),
                        requestedAt: word.at)
                ).answer
        }
        #expect(answer.isGiven == story.isGiven)
        #expect(shop.books.changes.consents.count == story.rows)
        #expect(shop.books.changes.consents.map(\.revision) == Array(Int64(1)..<Int64(story.rows + 1)))
        #expect(shop.books.consents[Shop.bob] == nil)
    }

    /// A word as a message.
    static func message(
        _ isGiven: Bool, by user: String, at time: Int64, id: MessageID = MessageID(UUIDText.random()),
        terms: String? = nil
    ) throws -> Incoming {
        let header = MessageHeader(
            id: id, type: .consentChangeRequested, version: 1, occurredAt: time, correlationID: "c", replyTo: "gateway")
        let body = ConsentChangeRequested(app: Shop.app, userID: UserID(user), isGiven: isGiven, termsVersion: terms)
        return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
    }

    @Test func `words are kept with their time, read by their user, and nobody can change them`() async throws {
        try await GrantingDatabase.with("consents") { granting in
            var session = try granting.open()
            func ask(_ user: String) throws -> ConsentAnswered? {
                let question = ConsentRequested(app: Shop.app, userID: UserID(user))
                return try session.run(AnswerQueries(), [try asked(question)])[0].answer(ConsentAnswered.self)
            }
            let never = ConsentAnswered(isGiven: false, termsVersion: nil, changedAt: nil)
            #expect(try ask("alice") == never)
            let give = try Self.message(true, by: "alice", at: 1_000, terms: "2026-11")
            let given = try session.run(DecideWallet(), [give, try Self.message(true, by: "bob", at: 1_000)])
            let answer = ConsentAnswered(isGiven: true, termsVersion: "2026-11", changedAt: 1_000)
            #expect(try given[0].answer(ConsentAnswered.self) == answer)
            #expect(given[0].facts.map(\.type) == [.consentChanged])
            #expect(try ask("alice") == answer)
            _ = try session.run(
                DecideWallet(), [try Self.message(false, by: "alice", at: 2_000), give])
            #expect(try ask("alice") == ConsentAnswered(isGiven: false, termsVersion: nil, changedAt: 2_000))
            #expect(try ask("bob")?.isGiven == true, "others are not concerned")
            #expect(try granting.rows("SELECT FROM granting.consents").count == 3, "the history is kept")
            let bad = try session.run(DecideWallet(), [try Self.message(true, by: "alice", at: 3_000, terms: "")])
            #expect(bad[0].parkedReason == DecideWallet.Reason.consent)
            for change in ["UPDATE granting.consents SET is_given = true", "DELETE FROM granting.consents"] {
                #expect(throws: (any Error).self) { _ = try session.connection.query(change) }
                #expect(throws: (any Error).self) { try granting.database.execute(change) }
            }
        }
    }
}

/// The free function of the same name, where a method hides it.
private func asked(_ body: some Message) throws -> Incoming { try message(body) }
