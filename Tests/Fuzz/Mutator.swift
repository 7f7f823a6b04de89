import TestSupport

/// Damages inputs, the same way for the same seed. It knows no coverage; what it knows is the shape of what it damages.
struct Mutator {
    var generator: SeededGenerator
    /// Other inputs, to splice with.
    let others: [[UInt8]]
    let longest: Int

    init(seed: UInt64, others: [[UInt8]], longest: Int) {
        generator = SeededGenerator(seed: seed)
        self.others = others
        self.longest = longest
    }

    /// Bytes at which readers change their minds.
    private static let edges: [UInt8] =
        [0, 1, 9, 10, 13, 0x20, 0x22, 0x25, 0x2C, 0x2D, 0x2E, 0x2F, 0x3A, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x7F]
        + [0x80, 0xBF, 0xC0, 0xC3, 0xED, 0xEF, 0xF0, 0xF4, 0xFE, 0xFF]

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func chance(_ oneIn: Int) -> Bool { number(0..<oneIn) == 0 }
    mutating func one<Element>(of elements: [Element]) -> Element? { elements.randomElement(using: &generator) }

    /// One to four changes, mostly one.
    mutating func damage(_ input: [UInt8], _ words: [String] = []) -> [UInt8] {
        var bytes = input
        for _ in 0..<(chance(3) ? number(2..<5) : 1) { change(&bytes, words) }
        return Array(bytes.prefix(longest))
    }

    private mutating func change(_ bytes: inout [UInt8], _ words: [String]) {
        let place = bytes.isEmpty ? 0 : number(0..<bytes.count)
        let end = min(bytes.count, place + (chance(8) ? number(0..<4_096) : number(0..<16)))
        switch number(0..<13) {
        case 0 where !bytes.isEmpty: bytes[place] ^= UInt8(1) << UInt8(number(0..<8))
        case 1 where !bytes.isEmpty: bytes[place] = one(of: Self.edges) ?? 0
        case 2 where !bytes.isEmpty: bytes[place] = bytes[place] &+ UInt8(truncatingIfNeeded: number(-3..<4))
        case 3: bytes.insert(one(of: Self.edges) ?? 0, at: place)
        case 4: bytes.removeSubrange(place..<end)
        case 5: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
        case 6: bytes.removeSubrange(place...)
        case 7:
            let piece = Array(bytes[place..<min(end, place + 64)])
            let copies = chance(20) ? number(0..<5_000) : number(0..<50)
            for _ in 0..<copies where bytes.count < longest { bytes.insert(contentsOf: piece, at: place) }
        case 8:
            guard let other = one(of: others), !other.isEmpty else { return }
            let from = number(0..<other.count)
            bytes.replaceSubrange(place..<end, with: other[from..<min(other.count, from + number(1..<256))])
        case 9:
            guard let other = one(of: others), !other.isEmpty else { return }
            bytes = Array(bytes[..<place]) + other[number(0..<other.count)...]
        default:
            guard let word = one(of: words) else {
                bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                return
            }
            bytes.replaceSubrange(chance(2) ? place..<place : place..<end, with: Array(word.utf8))
        }
    }
}
