/// `purser-drills demo`: the stories of the three documents against a running system.
enum DemoCommand {
    /// Exit code: 0 when every expectation holds, 1 when one fails or the story stops, 2 without settings.
    static func run() -> Int32 {
        let settings = DrillSettings()
        let story: DemoStory
        do {
            story = try DemoStory(settings)
        } catch {
            print("the demo cannot begin: \(error)")
            return 2
        }
        do {
            try story.tellAll()
            try story.sellPoints(settings)
            try story.playTheGame(settings)
            // Only where reconciliation asks this simulator what it has told.
            if (try? settings.value("HISTORY")) != nil { try story.loseAndFind() }
        } catch {
            print("\n✘ the story stops here: \(error)")
            _ = story.expectations.conclude()
            return 1
        }
        return story.expectations.conclude()
    }
}
