@testable import Granting

/// The tables as a handler meets them in the simulation: what was asked before is answered from memory, the first new
/// question ends the run. Its answer is found statement by statement, others' steps in between, and the handler runs
/// again from the start; it is a pure function of its answers, so nobody can tell the difference.
struct ModelTables: BookTables {
    /// The handler asked something new.
    struct Asked: Error {}
    /// The handler asked something else than in its run before.
    struct AskedAnew: Error {}

    /// Answers so far, and of how many queries.
    let answers: [(count: Int, found: BookFindings)]
    private var next = 0
    /// What is to be written before the new question, or at the end.
    private(set) var changes: [BookChange] = []
    /// The new question.
    private(set) var queries: [BookQuery] = []

    init(answers: [(count: Int, found: BookFindings)]) { self.answers = answers }

    mutating func run(_ queries: [BookQuery]) throws -> BookFindings {
        guard next < answers.count else {
            self.queries = queries
            throw Asked()
        }
        guard answers[next].count == queries.count else { throw AskedAnew() }
        changes = []
        next += 1
        return answers[next - 1].found
    }

    mutating func enqueue(_ changes: [BookChange]) { self.changes += changes }
}
