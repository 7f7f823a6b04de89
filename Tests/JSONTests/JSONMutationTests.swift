import JSON
import Testing

/// Random damage never crashes the reader, and whatever it accepts survives a round trip.
@Suite struct JSONMutationTests {
    /// A small deterministic generator (SplitMix64), so that a failure can be repeated from its seed.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    private static let seeds: [[UInt8]] = [
        Array(
            #"{"transactionId":"2000000888888888","quantity":1,"price":990000,"a":[true,false,null,-0,1e9],"é":"\ud83d\ude00"}"#
                .utf8),
        Array(#"[[[["deep\n"]]],{"k":{"k":{"k":9223372036854775807}}},"蛋饼",0.5]"#.utf8),
        Array(Fixture.payload.utf8),
    ]
    private static let interesting: [UInt8] = Array("{}[]\",:\\u0dD8e.-+ \n\0".utf8) + [0x80, 0xC3, 0xED, 0xF4, 0xFF]

    @Test(arguments: UInt64(1)...8) func `damaged texts are read or refused, never more`(_ seed: UInt64) throws {
        var generator = Generator(state: seed)
        var accepted = 0
        for _ in 0..<4_000 {
            var bytes = Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &generator)]
            for _ in 0..<Int.random(in: 0...3, using: &generator) { Self.damage(&bytes, &generator) }
            guard let value = try? JSONReader.parse(bytes) else { continue }
            accepted += 1
            let written = JSONWriter.write(value)
            #expect(try JSONReader.parse(written) == value)
            #expect(try JSONWriter.write(JSONReader.parse(written)) == written)
        }
        #expect(accepted > 500)
    }

    @Test func `every prefix of a valid text is refused`() {
        for seed in Self.seeds {
            for length in 0..<seed.count {
                #expect(throws: JSONError.self) { try JSONReader.parse(Array(seed[..<length])) }
            }
        }
    }

    private static func damage(_ bytes: inout [UInt8], _ generator: inout Generator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let byte = interesting[Int.random(in: 0..<interesting.count, using: &generator)]
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[place] = byte
        case 1: bytes.insert(byte, at: place)
        case 2: bytes.remove(at: place)
        case 3: bytes.removeSubrange(place..<min(place + 8, bytes.count))
        default: bytes.insert(contentsOf: bytes[place..<min(place + 12, bytes.count)], at: place)
        }
    }
}
