import TestSupport

/// Something that reads what strangers write. One value lives in one process and may keep state.
protocol FuzzTarget {
    /// What ``run`` is given first and everything else is made of.
    var seeds: [[UInt8]] { get }
    /// Words of the format, put in by the mutator.
    var words: [String] { get }
    /// The longest input worth trying, in bytes.
    var longest: Int { get }

    /// Makes an input out of `seed`; the default damages bytes.
    mutating func make(from seed: [UInt8], by mutator: inout Mutator) -> [UInt8]
    /// Gives the input to the product.
    ///
    /// - Returns: whether it was accepted.
    /// - Throws: ``Violation`` if the product broke a promise.
    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool
}

/// A promise was broken.
struct Violation: Error {
    /// What is wrong, in a sentence.
    let what: String

    /// A violation if `condition` does not hold.
    static func unless(_ condition: Bool, _ what: @autoclosure () -> String) throws(Violation) {
        if !condition { throw Violation(what: what()) }
    }
}

extension FuzzTarget {
    var words: [String] { [] }
    /// Twice the largest JWS: what is longer is refused by its length alone.
    var longest: Int { 128 << 10 }

    mutating func make(from seed: [UInt8], by mutator: inout Mutator) -> [UInt8] { mutator.damage(seed, words) }
}

/// Where seeds are found.
struct FuzzFiles {
    /// `Tests/Fixtures` of the clone.
    let fixtures: String
    /// A folder for what must be the same in every process of a run and in every replay: the simulated authority.
    let state: String

    /// The files kept for a target, by name: what was found once, and small examples.
    func corpus(_ target: String) -> [[UInt8]] { FileBytes.folder("\(fixtures)/Corpus/\(target)").map(\.bytes) }
}
