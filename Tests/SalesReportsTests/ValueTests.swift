import Testing

@testable import SalesReports

@Suite struct ValueTests {
    @Test(arguments: [
        ("0", 0, "0"), ("12", 12_000_000, "12"), ("0.70", 700_000, "0.7"), ("-1.19", -1_190_000, "-1.19"),
        ("0.000001", 1, "0.000001"), ("-0.5", -500_000, "-0.5"), ("9223372036854.775807", .max, "9223372036854.775807"),
    ])
    func `an amount is exact to the millionth`(text: String, millionths: Int64, shown: String) {
        #expect(ReportAmount(text)?.millionths == millionths)
        #expect(ReportAmount(millionths: millionths).description == shown)
    }

    @Test(arguments: [
        "", "-", ".", "1.", ".5", "1,000.00", "1.2.3", "+1", "1e3", "0.0000001", "9223372036854.775808", "١",
    ])
    func `what is no plain decimal number is none`(text: String) {
        #expect(ReportAmount(text) == nil)
    }

    @Test(arguments: [("02/29/2028", "2028-02-29"), ("12/31/2026", "2026-12-31"), ("2026-05-25", "2026-05-25")])
    func `a day is read as reports write it and shown in order`(text: String, shown: String) {
        #expect(CalendarDay(text)?.description == shown)
    }

    @Test(arguments: [
        "02/29/2026", "02/29/2100", "13/01/2026", "00/10/2026", "04/31/2026", "5/25/2026", "05-25-2026", "2026/05/25",
        "",
        "05/25/26", "0a/25/2026",
    ])
    func `a day that does not exist is none`(text: String) {
        #expect(CalendarDay(text) == nil)
    }

    @Test func `days are ordered by the calendar`() throws {
        let days = try ["2025-12-31", "2026-01-01", "2026-01-02", "2026-02-01"].map { try #require(CalendarDay($0)) }
        #expect(days.shuffled().sorted() == days)
    }
}
