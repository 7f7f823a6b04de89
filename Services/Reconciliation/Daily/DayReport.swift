import JSON

/// What a report says, before it is a page. Texts are as others wrote them; pages escape them.
struct DayReport: Sendable, Equatable {
    /// A table.
    struct Table: Sendable, Equatable {
        let title: String
        let columns: [String]
        let rows: [[String]]
        /// What stands there if there are no rows.
        let empty: String
    }

    /// Numbers over the hours of a day or over days.
    struct Chart: Sendable, Equatable {
        let title: String
        /// What stands below the bars.
        let labels: [String]
        /// Values by series; every series has a value for every label.
        let series: [(name: String, values: [Int64])]
        /// What the numbers are.
        let unit: String

        static func == (one: Chart, other: Chart) -> Bool {
            one.title == other.title && one.labels == other.labels && one.unit == other.unit
                && one.series.map(\.name) == other.series.map(\.name)
                && one.series.map(\.values) == other.series.map(\.values)
        }
    }

    /// A number a reader looks for first.
    struct Figure: Sendable, Equatable {
        let name: String
        let value: String
        /// Whether somebody should look.
        var isAlarming = false
    }

    let plan: DayPlan
    let figures: [Figure]
    let charts: [Chart]
    let tables: [Table]
    /// The numbers for programs.
    let summary: JSONObject
    /// When it was made, by the app's clock.
    let madeAt: String
}
