@main
enum DrillsMain {
    static func main() {}
}
