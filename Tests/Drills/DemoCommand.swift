/// `purser-drills demo`: the story of document A against a running system.
enum DemoCommand {
    /// Exit code: 0 when every expectation holds, 1 when one fails or the story stops, 2 without settings.
    static func run() -> Int32 {
        let story: DemoStory
        do {
            story = try DemoStory(DrillSettings())
        } catch {
            print("the demo cannot begin: \(error)")
            return 2
        }
        do {
            try story.tellAll()
        } catch {
            print("\n✘ the story stops here: \(error)")
            _ = story.expectations.conclude()
            return 1
        }
        return story.expectations.conclude()
    }
}
