import Crypto
import Messages

/// The number of the order that stands for a second purchase on one order.
enum SiblingOrder {
    /// `IAP`, the UTC date of the purchase, and 12 digits made of the transaction and its owner's random id: the same
    /// whenever it is calculated, and not to be guessed by anybody who does not know that id, which never leaves.
    static func number(_ statement: VerifiedTransaction, _ owner: CustomerID) -> OrderNumber {
        let name = ["sibling-order", statement.key.description, owner.rawValue].joined(separator: "\n")
        let digest = SHA256.hash(Array(name.utf8))
        let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000_000_000
        let digits = String(number)
        return OrderNumber(
            "IAP" + date(statement.purchaseDate) + String(repeating: "0", count: 12 - digits.count) + digits)
    }

    /// `yyyyMMdd` in UTC of an instant in ms since 1970, by the civil calendar (proleptic Gregorian, days counted from
    /// 1 March of year 0 so that leap days come last).
    static func date(_ milliseconds: Int64) -> String {
        let days = Int64((Double(milliseconds) / 86_400_000).rounded(.down)) &+ 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return padded(year, 4) + padded(month, 2) + padded(day, 2)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
