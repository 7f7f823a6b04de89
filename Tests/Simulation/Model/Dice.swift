import Pipeline

/// Chance that is the same for the same seed (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0 ..< limit; 0 if limit is below 1.
    mutating func roll(_ limit: Int) -> Int { limit < 2 ? 0 : Int(next() >> 33) % limit }

    /// True so many times of a hundred.
    mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }

    /// One of some.
    mutating func pick<Value>(_ values: [Value]) -> Value { values[roll(values.count)] }

    /// A UUID, version 4.
    mutating func uuid() -> String {
        let (high, low) = (next(), next())
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: high >> (UInt64($0) * 8)) }
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: low >> (UInt64($0) * 8)) }
        bytes[6] = (bytes[6] & 0x0F) | 0x40
        bytes[8] = (bytes[8] & 0x3F) | 0x80
        return UUIDText.format(bytes)
    }
}
