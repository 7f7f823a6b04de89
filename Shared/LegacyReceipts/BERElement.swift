/// One element of BER (X.690 §8.1): where it stands in its document.
struct BERElement {
    /// The first byte: class, constructed or not, number.
    let tag: UInt8
    /// Everything, its header included.
    let whole: Range<Int>
    /// What is inside, without the end mark of an indefinite length.
    let content: Range<Int>
    /// How many elements are around it.
    let depth: Int

    /// Where what is inside begins to be read.
    var inside: BERCursor { BERCursor(position: content.lowerBound, end: content.upperBound, depth: depth + 1) }
}

/// A place in a document, and where its surroundings end.
struct BERCursor {
    /// The next element begins here.
    var position: Int
    /// Behind the last one.
    let end: Int
    /// How many elements are around it.
    let depth: Int

    /// Whether nothing is left.
    var isAtEnd: Bool { position >= end }
}

/// The tags that occur in receipts.
enum BERTag {
    static let integer: UInt8 = 0x02
    static let octets: UInt8 = 0x04
    static let identifier: UInt8 = 0x06
    static let utf8: UInt8 = 0x0C
    static let printable: UInt8 = 0x13
    static let ia5: UInt8 = 0x16
    /// A text of bytes in pieces.
    static let octetPieces: UInt8 = 0x24
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// `[0]` with elements in it.
    static let first: UInt8 = 0xA0
    /// `[1]` with elements in it.
    static let second: UInt8 = 0xA1
}
