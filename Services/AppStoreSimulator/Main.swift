@main
enum AppStoreSimulatorMain {
    static func main() {}
}
